// Descent on the feature-space distance itself, for kernels with a gradient (Mika eq. 7):
//   ρ(y) = k(y, y) - 2 Σ γ_i k(y, s_i)
// by L-BFGS with halved steps, as mercer.preimage.Gradient.

import { expansion, kernelRow, squaredNorm } from "./subspace.js";

const DEPTH = 6;
const DECREASE = 1e-4;

export function descend(P, z, start, { tol = 1e-6, maxSteps = 300 } = {}) {
  const gamma = expansion(P, z);
  const size = Math.max(squaredNorm(P, z), 0);
  const radius = radiusOf(P);
  const k = new Float64Array(P.m);
  const value = (y) => {
    kernelRow(P, y, k);
    let inner = 0;
    for (let i = 0; i < P.m; i++) inner += gamma[i] * k[i];
    return P.kernel.diag(y) - 2 * inner;
  };
  const slope = (y) => {
    const own = P.kernel.diagGradient(y, new Float64Array(P.d));
    const other = P.kernel.gradient(y, P.support, gamma, new Float64Array(P.d));
    return own.map((entry, j) => entry - 2 * other[j]);
  };
  let y = Float64Array.from(start);
  let rho = value(y);
  let g = slope(y);
  const memory = [];
  for (let steps = 1; steps <= maxSteps; steps++) {
    const natural = Math.abs(P.kernel.diag(y)) + size;
    if (norm(g) * radius <= tol * natural) return { point: y, converged: true, steps };
    const direction = directionOf(memory, g, radius);
    const descent = dot(direction, g);
    let factor = 1;
    let moved = null;
    for (let half = 0; half < 25 && !moved; half++, factor /= 2) {
      const trial = y.map((entry, j) => entry + factor * direction[j]);
      const there = value(trial);
      const enough = rho + DECREASE * factor * descent + 1e-15 * natural;
      if (there <= enough) moved = { trial, there };
    }
    if (!moved) return { point: y, converged: false, steps };
    const fresh = slope(moved.trial);
    remember(
      memory,
      moved.trial.map((v, j) => v - y[j]),
      fresh.map((v, j) => v - g[j]),
    );
    [y, rho, g] = [moved.trial, moved.there, fresh];
  }
  return { point: y, converged: false, steps: maxSteps };
}

/** The quasi-Newton direction by the two-loop recursion; downhill, no longer than the radius. */
function directionOf(memory, g, radius) {
  const direction = g.map((entry) => entry);
  const weights = [];
  for (let j = memory.length - 1; j >= 0; j--) {
    const { s, y, rho } = memory[j];
    weights[j] = rho * dot(s, direction);
    addTo(direction, y, -weights[j]);
  }
  const newest = memory[memory.length - 1];
  if (newest) {
    const factor = 1 / (newest.rho * dot(newest.y, newest.y));
    for (let j = 0; j < direction.length; j++) direction[j] *= factor;
  }
  for (let j = 0; j < memory.length; j++) {
    const { s, y, rho } = memory[j];
    addTo(direction, s, weights[j] - rho * dot(y, direction));
  }
  for (let j = 0; j < direction.length; j++) direction[j] *= -1;
  const uphill = dot(direction, g) >= 0;
  const from = uphill ? g.map((entry) => -entry) : direction;
  const length = norm(from) || 1;
  // Without curvature the gradient's length means nothing: begin with a tenth of the radius.
  const allowed = newest && !uphill ? Math.min(length, radius) : 0.1 * radius;
  return from.map((entry) => (entry * allowed) / length);
}

function remember(memory, s, y) {
  const curvature = dot(s, y);
  if (!(curvature > 1e-10 * norm(s) * norm(y))) return; // would spoil the approximation
  memory.push({ s, y, rho: 1 / curvature });
  if (memory.length > DEPTH) memory.shift();
}

/** Root mean square distance of the support from its mean. */
function radiusOf(P) {
  if (P.radius) return P.radius;
  const { data, m, d } = P.support;
  const middle = new Float64Array(d);
  for (let i = 0; i < m * d; i++) middle[i % d] += data[i] / m;
  let sum = 0;
  for (let i = 0; i < m * d; i++) sum += (data[i] - middle[i % d]) ** 2 / m;
  P.radius = Math.sqrt(sum) || 1;
  return P.radius;
}

function addTo(a, b, factor) {
  for (let j = 0; j < a.length; j++) a[j] += factor * b[j];
}

const dot = (a, b) => {
  let sum = 0;
  for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
  return sum;
};
const norm = (a) => Math.sqrt(dot(a, a));
