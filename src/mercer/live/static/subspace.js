// The Subspace: orthonormal directions w_k = Φ_S B_k around a mean μ = Φ_S c.
//
// Everything that people want from kernel PCA is a formula in kernel, S, B and c (docs/design.md).

import { makeKernel } from "./kernels.js";

/**
 * A subspace from plain numbers.
 * @param parts { kernel: spec, support: {data, m, d}, coef (m·q), mean (m), offset (q), meanSquare }
 */
export function makeSubspace(parts) {
  const { support, coef, mean, offset } = parts;
  const q = offset.length;
  return {
    ...parts,
    spec: parts.kernel,
    kernel: makeKernel(parts.kernel),
    m: support.m,
    d: support.d,
    q,
  };
}

/** The kernel row k(S, x). */
export function kernelRow(P, x, out = new Float64Array(P.m)) {
  return P.kernel.row(x, P.support, out);
}

/** z(x) = Bᵀ k(S, x) - b, from a kernel row. */
export function scoresOfRow(P, k) {
  const { coef, q, m } = P;
  const z = new Float64Array(q);
  for (let i = 0; i < m; i++) {
    const value = k[i];
    const at = i * q;
    for (let a = 0; a < q; a++) z[a] += coef[at + a] * value;
  }
  for (let a = 0; a < q; a++) z[a] -= P.offset[a];
  return z;
}

export function scores(P, x) {
  return scoresOfRow(P, kernelRow(P, x));
}

/** z(x) and the residual k(x,x) - 2 cᵀk(S,x) + cᵀK_SS c - |z|², never below zero. */
export function scoresAndResidual(P, x) {
  const k = kernelRow(P, x);
  const z = scoresOfRow(P, k);
  let r = P.kernel.diag(x) + P.meanSquare;
  for (let i = 0; i < P.m; i++) r -= 2 * P.mean[i] * k[i];
  for (const value of z) r -= value * value;
  return { z, residual: Math.max(r, 0) };
}

/** γ = c + B z: the expansion Φ_S γ whose pre-image is sought. Never B z alone. */
export function expansion(P, z) {
  const { coef, mean, q, m } = P;
  const gamma = new Float64Array(m);
  for (let i = 0; i < m; i++) {
    let sum = mean[i];
    const at = i * q;
    for (let a = 0; a < z.length; a++) sum += coef[at + a] * z[a];
    gamma[i] = sum;
  }
  return gamma;
}

/** |μ + Σ z_k w_k|² = cᵀKc + 2 bᵀz + |z|². */
export function squaredNorm(P, z) {
  let sum = P.meanSquare;
  for (let a = 0; a < z.length; a++) sum += 2 * P.offset[a] * z[a] + z[a] * z[a];
  return sum;
}

/**
 * Where the support points themselves lie: scores (m·q) and residuals. Python sends them along;
 * for a fit made in the page they cost O(m²(d + q)) once.
 */
export function supportScores(P) {
  if (P.ofSupport) return P.ofSupport;
  const Z = new Float64Array(P.m * P.q);
  const residual = new Float64Array(P.m);
  for (let i = 0; i < P.m; i++) {
    const seen = scoresAndResidual(P, pointOf(P.support, i));
    Z.set(seen.z, i * P.q);
    residual[i] = seen.residual;
  }
  P.ofSupport = { Z, residual };
  return P.ofSupport;
}

/** The number of the support point nearest in feature space to μ + Σ z_k w_k. */
export function nearestSupport(P, z) {
  const { Z, residual } = supportScores(P);
  const { m, q } = P;
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < m; i++) {
    let sum = residual[i];
    const at = i * q;
    for (let a = 0; a < q; a++) {
      const step = (a < z.length ? z[a] : 0) - Z[at + a];
      sum += step * step;
    }
    if (sum < least) [least, best] = [sum, i];
  }
  return best;
}

export function pointOf(S, i) {
  return Float64Array.from(S.data.subarray(i * S.d, (i + 1) * S.d));
}

/** The rows of the Jacobian ∂z_a/∂x for some components: which variables move a point where. */
export function scoreGradients(P, x, components) {
  return components.map((a) => {
    const g = new Float64Array(P.m);
    for (let i = 0; i < P.m; i++) g[i] = P.coef[i * P.q + a];
    return P.kernel.gradient(x, P.support, g, new Float64Array(P.d));
  });
}
