// A selection against the rest: which columns differ most, and how.

import { columnsOf, textOf } from "./columns.js";
import { rowOf, scoreAt } from "./model.js";

/** Rows of each side that are looked at, and bars of a histogram. */
const [MOST, BINS] = [4000, 16];

/**
 * @param rows which rows of the model are selected
 * @returns [{ name, distance, inside, outside, words }], the largest distance first: shares of the
 *   selection and of the rest in each bin or category, and the two in words. The distance is the
 *   largest between the two distribution functions of a number (Kolmogorov & Smirnov), and of a
 *   category half the sum of differences: from 0, alike, to 1, apart.
 */
export function contrast(model, rows) {
  const chosen = new Uint8Array(model.n);
  for (const i of rows) chosen[i] = 1;
  const rest = Array.from(chosen.keys()).filter((i) => !chosen[i]);
  const sides = [some(rows), some(rest)];
  if (!sides[1].length) return [];
  const compare = ({ name, kinds, of }) => {
    const values = sides.map((side) => side.map(of));
    return { name, ...(kinds ? ofKinds(values, kinds) : ofNumbers(values)) };
  };
  return questions(model)
    .map(compare)
    .sort((a, b) => b.distance - a.distance);
}

/** What rows can be asked: their class, and their columns or, without those, their scores. */
function questions(model) {
  const { codes, values, facts, scores } = model;
  const label = codes
    ? [{ name: "class", kinds: facts.classes, of: (i) => facts.classes[codes[i]] }]
    : values
      ? [{ name: "value", of: (i) => values[i] }]
      : [];
  if (facts.imageShape) return label;
  if (!model.rows) {
    const of = (a) => ({ name: `component ${a}`, of: (i) => scoreAt(model, i, a) });
    return [...label, ...Array.from({ length: scores.q }, (_, a) => of(a))];
  }
  const plain = ({ name, values: kinds, of }) => ({ name, kinds, of: (i) => of(rowOf(model, i)) });
  return [...label, ...columnsOf(model).map(plain)];
}

function some(rows) {
  const step = Math.max(1, rows.length / MOST);
  return Array.from({ length: Math.min(rows.length, MOST) }, (_, k) => rows[Math.floor(k * step)]);
}

function ofKinds(values, kinds) {
  const [inside, outside] = values.map((side) => shares(side, kinds.length, (v) => kinds.indexOf(v)));
  const gaps = inside.map((share, k) => share - outside[k]);
  const distance = gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / 2;
  const most = gaps.indexOf(Math.max(...gaps));
  const percent = (share) => `${Math.round(100 * share)} %`;
  const words = `${kinds[most]}: ${percent(inside[most])} against ${percent(outside[most])}`;
  return { distance, inside: Array.from(inside), outside: Array.from(outside), words };
}

function ofNumbers(values) {
  const dates = typeof values[0][0] === "string";
  const sorted = values.map((side) =>
    Float64Array.from(side, (v) => (dates ? Date.parse(v) : v)).sort(),
  );
  const means = sorted.map((side) => side.reduce((a, b) => a + b, 0) / side.length);
  const [low, high] = [0.01, 0.99].map((share, k) =>
    Math[k ? "max" : "min"](...sorted.map((side) => side[Math.round(share * (side.length - 1))])),
  );
  const bin = (v) => Math.min(Math.max(Math.floor((BINS * (v - low)) / (high - low || 1)), 0), BINS - 1);
  const [inside, outside] = sorted.map((side) => Array.from(shares(side, BINS, bin)));
  const text = (mean) => (dates ? new Date(mean).toISOString().slice(0, 10) : textOf(mean));
  const words = `mean ${text(means[0])} against ${text(means[1])}`;
  return { distance: gapOf(...sorted), inside, outside, words };
}

function shares(values, count, place) {
  const sizes = new Float64Array(count);
  for (const value of values) sizes[place(value)] += 1 / values.length;
  return sizes;
}

/** The largest distance between the distribution functions of two sorted samples. */
function gapOf(a, b) {
  let [i, j, most] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const value = Math.min(a[i], b[j]);
    while (a[i] === value) i++;
    while (b[j] === value) j++;
    most = Math.max(most, Math.abs(i / a.length - j / b.length));
  }
  return most;
}
