// A model as the page holds it: facts and arrays become a Subspace and rows.

import { makeSubspace, pointOf, scoresAndResidual } from "./subspace.js";
import { pValue, scoreOf } from "./novelty.js";

/**
 * @param facts, arrays as mercer.live.describe writes and numbers.js unpacks them
 * @returns {
 *   facts, P: subspace, n, d, rows: {data, m, d} | null, columns of numbers by name,
 *   scores: {data, q}, index: which rows of the file these are }
 */
export function makeModel(facts, arrays) {
  const table = (name) => {
    const { data, shape } = arrays[name];
    return { data, m: shape[0], d: shape[1] };
  };
  const support = table("support");
  const P = makeSubspace({
    kernel: facts.kernel,
    support,
    coef: arrays.coef.data,
    mean: arrays.mean.data,
    offset: Float64Array.from(facts.offset),
    meanSquare: facts.meanSquare,
  });
  P.smooths = facts.smooths;
  if (facts.power && facts.shares) P.shrunk = { power: facts.power, shares: facts.shares };
  const known = arrays.supportScores ?? arrays.scores;
  if (known.shape[1] === P.q && known.shape[0] === P.m) {
    P.ofSupport = { Z: known.data, residual: (arrays.supportResidual ?? arrays.error).data };
  }
  const rows = arrays.rows ? table("rows") : support.m === facts.n ? support : null;
  const data = (name) => arrays[name]?.data ?? null;
  return {
    facts,
    P,
    n: facts.n,
    d: support.d,
    rows,
    index: null,
    shares: facts.shares,
    scores: { data: arrays.scores.data, q: arrays.scores.shape[1] },
    error: data("error"),
    novelty: data("novelty"),
    pValues: data("pValues"),
    calibration: data("calibration"),
    evidence: data("evidence"),
    codes: data("codes"),
    values: data("values"),
    pictures: arrays.pictures ?? null,
    drawn: arrays.drawn ? table("drawn") : null,
    linear: { mean: data("linearMean"), axes: table("linearAxes") },
    spread: rows ? spreadOf(rows) : spreadOf(support),
  };
}

/** Some rows of a model: { data, m, d, index } of the file's rows. */
export function someOf(whole, rows) {
  const take = (column) => column && Float32Array.from(rows.index, (i) => column[i]);
  const { q, data } = whole.scores;
  const scores = Float32Array.from({ length: rows.m * q }, (_, k) => data[rows.index[(k / q) | 0] * q + (k % q)]);
  const columns = ["codes", "values", "error", "novelty", "pValues"];
  const taken = Object.fromEntries(columns.map((name) => [name, take(whole[name])]));
  const some = { n: rows.m, rows, index: rows.index, scores: { data: scores, q } };
  return { ...whole, ...taken, ...some, left: null };
}

/**
 * The model of a fit made in the page, on some rows of another model.
 * @param knobs { name, width, q, center } of the fit
 */
export function fittedModel(whole, rows, fit, knobs = null) {
  const novelty = { inside: new Array(fit.q).fill(0), outside: 1, rate: 0.05, slack: 0 };
  return judged({
    ...someOf(whole, rows),
    P: makeSubspace({ ...fit.parts, support: fit.parts.support ?? rows }),
    shares: fit.shares,
    scores: { data: fit.scores, q: fit.q },
    error: fit.error,
    drawn: null,
    deviations: null,
    fitted: knobs,
    facts: { ...whole.facts, novelty: { ...novelty, heldOut: false } },
  });
}

/** The same fit with the scores of all rows. O(n m (d + q)) */
export function onAllRows(whole, trial) {
  const { n, rows, codes, values } = whole;
  const { P } = trial;
  const [Z, error] = [new Float32Array(n * P.q), new Float32Array(n)];
  for (let i = 0; i < n; i++) {
    const { z, residual } = scoresAndResidual(P, pointOf(rows, i));
    Z.set(z, i * P.q);
    error[i] = residual;
  }
  const all = { n, rows, codes, values, index: null, deviations: null };
  return judged({ ...trial, ...all, scores: { data: Z, q: P.q }, error });
}

/** Novelty by the reconstruction error, and ranks among the rows themselves. */
function judged(model) {
  const { error } = model;
  const calibration = Float64Array.from(error).sort();
  const pValues = error.map((value) => pValue(calibration, 1e-7, value));
  return { ...model, novelty: error, calibration, pValues };
}

/** What the model says about a point of (shifted) input space. */
export function judgePoint(model, x) {
  const { z, residual } = scoresAndResidual(model.P, x);
  const rule = model.facts.novelty;
  const score = scoreOf(rule, z, residual);
  return { z, error: residual, score, p: pValue(model.calibration, rule.slack, score) };
}

/** The number that a row of this model has in the file. */
export function rowNumber(model, i) {
  return model.index ? model.index[i] : i;
}

/** Rows of one model as another one counts them, without those that it lacks. */
export function sameRows(from, to, rows) {
  if (!rows || from.index === to.index) return rows;
  const places = to.index && new Map(Array.from(to.index, (number, i) => [number, i]));
  const place = (number) => (places ? places.get(number) : number);
  return rows.map((i) => place(rowNumber(from, i))).filter((i) => i !== undefined);
}

export function rowOf(model, i) {
  return model.rows ? pointOf(model.rows, i) : null;
}

export function scoreAt(model, i, component) {
  return model.scores.data[i * model.scores.q + component];
}

export function labelOf(model, i) {
  if (model.codes) return model.facts.classes[model.codes[i]];
  return model.values ? formatNumber(model.values[i]) : "";
}

/** Standard deviations of the scores, in which sliders and strips are measured. */
export function deviations(model) {
  if (model.deviations) return model.deviations;
  const { data, q } = model.scores;
  const sums = new Float64Array(q);
  for (let i = 0; i < model.n * q; i++) sums[i % q] += data[i] * data[i];
  model.deviations = sums.map((sum) => Math.sqrt(sum / model.n) || 1);
  return model.deviations;
}

function spreadOf({ data, m, d }) {
  const mean = new Float64Array(d);
  const square = new Float64Array(d);
  for (let i = 0; i < m * d; i++) {
    mean[i % d] += data[i] / m;
    square[i % d] += (data[i] * data[i]) / m;
  }
  return { mean, deviation: square.map((s, j) => Math.sqrt(Math.max(s - mean[j] ** 2, 0)) || 1) };
}

/** Four figures, as people write them. */
export function formatNumber(value) {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  if (size >= 999.5 && size < 1e6) return String(Math.round(value));
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(2) : value.toPrecision(3);
  return text.includes("e") ? text : String(Number(text));
}
