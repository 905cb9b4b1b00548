// Kernel PCA of a few hundred rows: the Gram matrix, centring, leading eigenpairs, the Subspace.

import { isRadial, makeKernel, squaredDistance } from "./kernels.js";
import { addTo, cholesky, dot, leading, solveLower, solveLowerTransposed } from "./linalg.js";
import { denoise } from "./preimage.js";
import { makeSubspace, pointOf } from "./subspace.js";

/**
 * Rows that are fitted again and again while a knob turns: what does not change is kept.
 * @param rows { data, m, d }
 * @param start scores (m·q) of another model on these rows, to begin from and to keep the signs of
 */
export function makeFitter(rows, start = null) {
  let distances = null; // squared, for radial kernels: only f(-r²/ℓ²) is new at a new width
  let before = start && { Z: start, block: columnsOf(start, rows.m) };
  return { fit };

  /** @param request { kernel: spec, q, center, landmarks?, rough?: enough for a hand that moves } */
  function fit(request) {
    const started = performance.now();
    const found = request.landmarks ? onLandmarks(rows, request) : exact(request);
    keepSigns(found, before?.Z, rows.m);
    before = { Z: found.Z, block: found.block ?? before?.block };
    const { block, Z, ...rest } = found;
    return { ...rest, scores: Z, milliseconds: performance.now() - started };
  }

  function exact(request) {
    const n = rows.m;
    const K = gram(request.kernel);
    const about = similarity(K, n);
    const { means, all } = request.center ? centre(K, n) : { means: new Float64Array(n), all: 0 };
    // What a row has outside the components: its own K_ii less the squares of its scores.
    const error = Float32Array.from({ length: n }, (_, i) => K[i * n + i]);
    const trace = error.reduce((a, b) => a + b, 0);
    const { values, vectors, block } = leading(K, n, request.q, before?.block, {
      tol: request.rough ? 1e-3 : 1e-8,
    });
    const q = Math.max(1, values.filter((lam) => lam > 1e-10 * values[0]).length);
    // B = H U Λ^{-1/2}; z = λ B on the rows themselves; b = Bᵀ K c with K c the row means.
    const coef = new Float64Array(n * q);
    const Z = new Float64Array(n * q);
    const offset = new Float64Array(q);
    for (let a = 0; a < q; a++) {
      const root = Math.sqrt(values[a]);
      for (let i = 0; i < n; i++) {
        coef[i * q + a] = vectors[a][i] / root;
        Z[i * q + a] = vectors[a][i] * root;
        error[i] = Math.max(error[i] - Z[i * q + a] ** 2, 0);
        offset[a] += request.center ? coef[i * q + a] * means[i] : 0;
      }
    }
    const mean = new Float64Array(n).fill(request.center ? 1 / n : 0);
    const parts = { kernel: request.kernel, support: rows, coef, mean, offset, meanSquare: all };
    return {
      parts,
      Z,
      q,
      error,
      block,
      ...about,
      shares: values.slice(0, q).map((lam) => lam / trace),
    };
  }

  function gram(spec) {
    const n = rows.m;
    const K = new Float64Array(n * n);
    if (isRadial(spec)) {
      distances ??= squaredDistances(rows);
      const { f } = makeKernel(spec);
      for (let i = 0; i < n * n; i++) K[i] = spec.scale * distances[i];
      for (let i = 0; i < n; i++) {
        const row = K.subarray(i * n, (i + 1) * n);
        f(row, row);
      }
      return K;
    }
    const kernel = makeKernel(spec);
    for (let i = 0; i < n; i++) {
      kernel.row(pointOf(rows, i), rows, K.subarray(i * n, (i + 1) * n));
    }
    return K;
  }
}

function columnsOf(Z, n) {
  const q = Z.length / n;
  return Array.from({ length: q }, (_, a) =>
    Float64Array.from({ length: n }, (__, i) => Z[i * q + a]),
  );
}

/** How alike different rows are: the middle of k(x, y) / √(k(x,x) k(y,y)) over a sample of pairs. */
function similarity(K, n) {
  const some = [];
  for (let i = 0; i < n; i++) {
    const j = (i * 7 + 1 + (i % 5)) % n;
    if (j !== i) some.push(K[i * n + j] / Math.sqrt(Math.abs(K[i * n + i] * K[j * n + j])));
  }
  some.sort((a, b) => a - b);
  const at = (share) => some[Math.min(some.length - 1, Math.floor(share * some.length))];
  return { alike: at(0.5), mostAlike: at(0.98), leastAlike: at(0.02) };
}

/** K ← H K H in place; the row means and the mean of all, which the Subspace needs. */
function centre(K, n) {
  const means = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) means[i] += K[i * n + j] / n;
  }
  const all = means.reduce((a, b) => a + b, 0) / n;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) K[i * n + j] += all - means[i] - means[j];
  }
  return { means, all };
}

/**
 * On m evenly spaced rows: with K_SS = L Lᵀ and a(x) = L⁻¹ k(S, x), the eigenvectors V of the
 * covariance of a; B = L⁻ᵀ V and c = L⁻ᵀ ā.
 */
function onLandmarks(rows, { kernel: spec, q, center, landmarks }) {
  const kernel = makeKernel(spec);
  const support = evenly(rows, landmarks);
  const [n, m] = [rows.m, support.m];
  const row = (x) => kernel.row(x, support, new Float64Array(m));
  const L = cholesky(Array.from({ length: m }, (_, i) => row(pointOf(support, i))));
  const features = Array.from({ length: n }, (_, i) => solveLower(L, row(pointOf(rows, i))));
  const mean = new Float64Array(m);
  if (center) features.forEach((a) => addTo(mean, a, 1 / n));
  const C = new Float64Array(m * m);
  const error = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const a = features[i].map((value, j) => value - mean[j]);
    for (let j = 0; j < m; j++) for (let k = 0; k < m; k++) C[j * m + k] += a[j] * a[k];
    // The true variance, of which the landmarks explain a part.
    const own = kernel.diag(pointOf(rows, i));
    error[i] = own - 2 * dot(features[i], mean) + dot(mean, mean);
  }
  const trace = error.reduce((a, b) => a + b, 0);
  const { values, vectors } = leading(C, m, Math.min(q, m), null, { tol: 1e-5 });
  const used = values.length;
  const coef = new Float64Array(m * used);
  vectors.forEach((v, a) => solveLowerTransposed(L, v).forEach((b, i) => (coef[i * used + a] = b)));
  const offset = Float64Array.from(vectors, (v) => dot(v, mean));
  const Z = new Float64Array(n * used);
  features.forEach((a, i) => vectors.forEach((v, k) => (Z[i * used + k] = dot(v, a) - offset[k])));
  for (let k = 0; k < n * used; k++) error[Math.floor(k / used)] -= Z[k] ** 2;
  const c = solveLowerTransposed(L, mean);
  const parts = { kernel: spec, support, coef, mean: c, offset, meanSquare: dot(mean, mean) };
  return {
    parts,
    Z,
    q: used,
    error: error.map((value) => Math.max(value, 0)),
    shares: values.map((lam) => lam / trace),
  };
}

/** Flip components whose scores turned round since the last fit: a map must not jump. */
function keepSigns({ parts, Z, q }, before, n) {
  const known = before ? before.length / n : 0;
  for (let a = 0; a < q; a++) {
    let sum = 0;
    let largest = 0;
    for (let i = 0; i < n; i++) {
      const value = Z[i * q + a];
      if (a < known) sum += value * before[i * known + a];
      if (Math.abs(value) > Math.abs(largest) * (1 + 1e-6)) largest = value;
    }
    if ((a < known ? sum : largest) >= 0) continue;
    for (let i = 0; i < n; i++) Z[i * q + a] *= -1;
    for (let i = 0; i < parts.support.m; i++) parts.coef[i * q + a] *= -1;
    parts.offset[a] *= -1;
  }
}

/** At most `count` rows, evenly spaced: the same ones in every run. */
export function evenly(rows, count) {
  if (rows.m <= count) return { ...rows, index: Array.from({ length: rows.m }, (_, i) => i) };
  const index = Array.from({ length: count }, (_, i) =>
    Math.floor((i * (rows.m - 1)) / (count - 1)),
  );
  const data = new rows.data.constructor(count * rows.d);
  index.forEach((row, i) =>
    data.set(rows.data.subarray(row * rows.d, (row + 1) * rows.d), i * rows.d),
  );
  return { data, m: count, d: rows.d, index };
}

function squaredDistances(rows) {
  const { data, m, d } = rows;
  const out = new Float64Array(m * m);
  for (let i = 0; i < m; i++) {
    const x = pointOf(rows, i);
    for (let j = 0; j < i; j++)
      out[i * m + j] = out[j * m + i] = squaredDistance(x, data, j * d, d);
  }
  return out;
}

/** The mean squared distance in input space between some rows and their reconstructions. */
export function inputError(parts, rows, count = 20) {
  const P = makeSubspace(parts);
  const some = evenly(rows, count);
  let sum = 0;
  for (let i = 0; i < some.m; i++) {
    const x = pointOf(some, i);
    const { point } = denoise(P, x, P.q, { maxSteps: 30, tol: 1e-4 });
    sum += squaredDistance(x, point, 0, rows.d) / some.m;
  }
  return sum;
}
