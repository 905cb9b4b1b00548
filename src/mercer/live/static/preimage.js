// From a point of feature space back to a point of input space: the methods of mercer.preimage.

import { isKinked, isRadial, squaredDistance } from "./kernels.js";
import {
  expansion,
  nearestSupport,
  pointOf,
  scores,
  supportScores,
} from "./subspace.js";
import { descend } from "./descent.js";

/** A denominator below this share of the sum of its absolute terms is mostly rounding. */
const CANCELLED = 1e-3;
/** What mercer.preimage.Auto takes for kernels with kinks. */
const SMOOTHER = { count: 10, by: "nearest" };
/** Steps below this share of the scale are accelerated; before, that could change the basin. */
const SWITCH = 1e-2;

/**
 * The pre-image of μ + Σ z_k w_k by the method that suits the kernel, as mercer.preimage.Auto
 * chooses where the point is known; by the smoother where the model has that.
 * @param start the point to begin at: the noisy point, or the last picture while a hand drags;
 *   without one the support point nearest in feature space
 * @returns { point, converged, steps }
 */
export function preimage(P, z, start = null, options = {}) {
  if (P.smooths || isKinked(P.spec)) {
    return { point: smooth(P, z, P.smooths ?? SMOOTHER), converged: true, steps: 0 };
  }
  if (isRadial(P.spec)) return fixedPoint(P, z, start, options);
  return descend(P, z, start ?? pointOf(P.support, nearestSupport(P, z)), options);
}

/** The pre-image of a point's own projection (shrunk as mercer.preimage.Shrunk), from the point. */
export function denoise(P, x, q = P.q, options = {}) {
  const z = scores(P, x).slice(0, q);
  if (P.shrunk) {
    const { power, shares } = P.shrunk;
    for (let a = 0; a < q; a++) z[a] *= Math.max(1 - shares[q - 1] / shares[a], 0) ** power;
  }
  return preimage(P, z, x, options);
}

/**
 * Mika's fixed-point iteration (Mika et al. 1999, eqs. 8-10):
 *   y ← Σ δ_i s_i / Σ δ_i,  δ_i = γ_i k′(|y - s_i|²),  γ = c + B z
 * Where the denominator cancels or the step leaves the data's box by more than its diagonal, it
 * begins again: at the support point with the largest γ, then at the mean.
 */
export function fixedPoint(P, z, start, { tol = 1e-6, maxSteps = 300 } = {}) {
  const gamma = expansion(P, z);
  const frame = frameOf(P);
  const { scale, box, middle } = frame;
  let y = start ? Float64Array.from(start) : pointOf(P.support, nearestSupport(P, z));
  let restarts = 0;
  let memory = [];
  let value = -Infinity;
  let plain = null; // the last image, to return to when a leap fails
  for (let steps = 1; steps <= maxSteps; steps++) {
    const seen = sweep(P, y, gamma);
    const trusted = seen.weight > CANCELLED * seen.size && inside(seen.image, box);
    if (plain && (!trusted || seen.value < value - 1e-12 * seen.size)) {
      [y, plain, memory] = [plain, null, []]; // the leap lowered the objective: the plain step
      continue;
    }
    if (!trusted) {
      restarts += 1;
      if (restarts > 2) return { point: y, converged: false, steps };
      [y, plain, memory] = [restarts === 1 ? pointOf(P.support, argmax(gamma)) : middle, null, []];
      continue;
    }
    value = seen.value;
    const residual = seen.image.map((entry, j) => entry - y[j]);
    const step = norm(residual) / scale;
    if (step <= tol) return { point: seen.image, converged: true, steps };
    plain = null;
    if (step <= SWITCH) {
      memory.push({ image: seen.image, residual });
      if (memory.length > 4) memory.shift();
    }
    if (memory.length > 1) [y, plain] = [extrapolate(memory), seen.image];
    else y = seen.image;
  }
  return { point: plain ?? y, converged: false, steps: maxSteps };
}

/** One application of Mika's map: its image, the objective Σ γ_i k(y, s_i), and what cancelled. */
function sweep(P, y, gamma) {
  const { data, m, d } = P.support;
  const { f, slope, spec } = P.kernel;
  const t = new Float64Array(m);
  for (let i = 0; i < m; i++) t[i] = spec.scale * squaredDistance(y, data, i * d, d);
  const slopes = slope(new Float64Array(m), t);
  const k = f === slope ? slopes : f(t, t);
  const image = new Float64Array(d);
  let weight = 0;
  let size = 0;
  let value = 0;
  for (let i = 0; i < m; i++) {
    const at = i * d;
    const delta = gamma[i] * slopes[i];
    weight += delta;
    size += Math.abs(delta);
    value += gamma[i] * k[i];
    for (let j = 0; j < d; j++) image[j] += delta * data[at + j];
  }
  for (let j = 0; j < d; j++) image[j] /= weight;
  return { image, weight, size, value };
}

/** Anderson's extrapolation: g - Σ θ_j Δg_j with θ minimising |r - Σ θ_j Δr_j|. */
function extrapolate(memory) {
  const last = memory[memory.length - 1];
  const D = [];
  for (let j = 1; j < memory.length; j++) {
    D.push({
      image: memory[j].image.map((v, a) => v - memory[j - 1].image[a]),
      residual: memory[j].residual.map((v, a) => v - memory[j - 1].residual[a]),
    });
  }
  const n = D.length;
  const A = D.map((a) => D.map((b) => dot(a.residual, b.residual)));
  const ridge = 1e-12 * A.reduce((sum, row, i) => sum + row[i], 0) || 1;
  for (let i = 0; i < n; i++) A[i][i] += ridge;
  const theta = solve(
    A,
    D.map((a) => dot(a.residual, last.residual)),
  );
  return last.image.map((v, a) => v - D.reduce((sum, one, j) => sum + theta[j] * one.image[a], 0));
}

/** Scale, box and middle of the support: what steps and places are measured by. */
function frameOf(P) {
  if (P.frame) return P.frame;
  const { data, m, d } = P.support;
  const low = new Float64Array(d).fill(Infinity);
  const high = new Float64Array(d).fill(-Infinity);
  const middle = new Float64Array(d);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < d; j++) {
      const value = data[i * d + j];
      low[j] = Math.min(low[j], value);
      high[j] = Math.max(high[j], value);
      middle[j] += value / m;
    }
  }
  let radius = 0;
  for (let i = 0; i < m; i++) radius += squaredDistance(middle, data, i * d, d) / m;
  const diagonal = norm(high.map((value, j) => value - low[j]));
  const box = { low: low.map((v) => v - diagonal), high: high.map((v) => v + diagonal) };
  const scale = Math.min(P.kernel.length ?? Infinity, Math.sqrt(radius)) || 1;
  P.frame = { scale, box, middle, radius: Math.sqrt(radius) || 1 };
  return P.frame;
}

/** A weighted mean of the support points most similar to μ + Σ z_k w_k (Schreurs & Suykens). */
function smooth(P, z, { count, by }) {
  const { Z, residual } = supportScores(P);
  const { m, q, d } = P;
  const similarity = new Float64Array(m);
  const key = new Float64Array(m);
  for (let i = 0; i < m; i++) {
    let own = by === "nearest" ? residual[i] : 0;
    for (let a = 0; a < z.length; a++) similarity[i] += z[a] * Z[i * q + a];
    for (let a = 0; a < q; a++) own += Z[i * q + a] ** 2;
    key[i] = by === "similarity" ? similarity[i] : 2 * similarity[i] - own;
  }
  const least = similarity.reduce((a, b) => Math.min(a, b), Infinity);
  const order = [...similarity.keys()]
    .sort((a, b) => key[b] - key[a])
    .slice(0, count);
  let weights = order.map((i) => similarity[i] - least);
  if (!(Math.max(...weights) > 0)) weights = order.map(() => 1);
  const total = weights.reduce((a, b) => a + b, 0);
  const point = new Float64Array(d);
  order.forEach((i, rank) => {
    for (let j = 0; j < d; j++) point[j] += (weights[rank] / total) * P.support.data[i * d + j];
  });
  return point;
}

function inside(y, { low, high }) {
  return y.every((value, j) => value >= low[j] && value <= high[j]);
}

function solve(A, b) {
  const n = b.length;
  const x = [...b];
  for (let i = 0; i < n; i++) {
    for (let k = i + 1; k < n; k++) {
      const factor = A[k][i] / A[i][i];
      for (let j = i; j < n; j++) A[k][j] -= factor * A[i][j];
      x[k] -= factor * x[i];
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i] -= A[i][j] * x[j];
    x[i] /= A[i][i];
  }
  return x;
}

const dot = (a, b) => a.reduce((sum, value, j) => sum + value * b[j], 0);
const norm = (a) => Math.sqrt(dot(a, a));
const argmax = (a) => a.reduce((best, value, i) => (value > a[best] ? i : best), 0);
