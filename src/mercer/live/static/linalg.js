// Small dense linear algebra. A block of vectors is an array of Float64Arrays of one length.

/** A V for a symmetric n × n matrix; four vectors at a time, so that A is read less often. */
export function multiply(A, n, V) {
  const out = V.map(() => new Float64Array(n));
  for (let block = 0; block < V.length; block += 4) {
    const [a, b = a, c = a, e = a] = V.slice(block, block + 4);
    const [ya, yb = ya, yc = ya, ye = ya] = out.slice(block, block + 4);
    for (let i = 0, at = 0; i < n; i++) {
      let [s0, s1, s2, s3] = [0, 0, 0, 0];
      for (let j = 0; j < n; j++, at++) {
        const value = A[at];
        s0 += value * a[j];
        s1 += value * b[j];
        s2 += value * c[j];
        s3 += value * e[j];
      }
      [ye[i], yc[i], yb[i], ya[i]] = [s3, s2, s1, s0];
    }
  }
  return out;
}

/** An orthonormal basis of the span of V outside that of the orthonormal `known`. */
export function orthonormalize(V, known = []) {
  const Q = [];
  for (const vector of V) {
    const v = Float64Array.from(vector);
    const before = norm(v);
    for (let round = 0; round < 2; round++) {
      // Twice: once is not enough near the span.
      for (const u of known) addTo(v, u, -dot(u, v));
      for (const u of Q) addTo(v, u, -dot(u, v));
    }
    const size = norm(v);
    if (size > 1e-10 * before && size > 0) Q.push(v.map((entry) => entry / size));
  }
  return Q;
}

/** All eigenpairs of a small symmetric matrix (array of rows), decreasing, by Jacobi rotations. */
export function jacobi(matrix) {
  const n = matrix.length;
  const A = matrix.map((row) => Float64Array.from(row));
  const V = A.map((_, i) => Float64Array.from({ length: n }, (__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    let all = 0;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        all += A[i][j] ** 2;
        if (i !== j) off += A[i][j] ** 2;
      }
    }
    if (off <= 1e-26 * all) break;
    for (let p = 0; p < n; p++) for (let r = p + 1; r < n; r++) rotate(A, V, p, r);
  }
  const order = [...A.keys()].sort((i, j) => A[j][j] - A[i][i]);
  // V holds eigenvectors as rows: each rotation is applied to two of them.
  return { values: order.map((i) => A[i][i]), vectors: order.map((i) => V[i]) };
}

function rotate(A, V, p, r) {
  if (A[p][r] === 0) return;
  const theta = (A[r][r] - A[p][p]) / (2 * A[p][r]);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < A.length; k++) {
    const [x, y] = [A[p][k], A[r][k]];
    A[p][k] = c * x - s * y;
    A[r][k] = s * x + c * y;
    const [u, w] = [V[p][k], V[r][k]];
    V[p][k] = c * u - s * w;
    V[r][k] = s * u + c * w;
  }
  for (let k = 0; k < A.length; k++) {
    const [x, y] = [A[k][p], A[k][r]];
    A[k][p] = c * x - s * y;
    A[k][r] = s * x + c * y;
  }
}

/**
 * The leading eigenpairs of a symmetric matrix: Rayleigh-Ritz on the current vectors W, their
 * residuals R, and the last step P (Knyazev's LOBPCG without a preconditioner). A round costs one
 * product with a block; from the answer to a nearby matrix two or three rounds do.
 */
export function leading(A, n, q, start, { tol = 1e-8, rounds = 200 } = {}) {
  const wanted = Math.min(n, q + 4);
  const first = [...(start ?? []).slice(0, wanted)];
  for (let k = first.length; k < wanted; k++) first.push(randomVector(n, k));
  let W = orthonormalize(first);
  let AW = multiply(A, n, W);
  let P = [];
  for (let round = 0; ; round++) {
    ({ W, AW, P } = improve(A, n, W, AW, P));
    const values = W.map((w, k) => dot(w, AW[k]));
    const left = W.slice(0, q).map((w, k) => norm(AW[k].map((v, i) => v - values[k] * w[i])));
    if (Math.max(...left) <= tol * Math.abs(values[0]) || round + 1 >= rounds) {
      return { values: values.slice(0, q), vectors: W.slice(0, q), block: W };
    }
  }
}

function improve(A, n, W, AW, P) {
  const R = W.map((w, k) => {
    const lam = dot(w, AW[k]);
    return AW[k].map((value, i) => value - lam * w[i]);
  });
  const more = orthonormalize([...R, ...P], W);
  const Q = [...W, ...more];
  const AQ = [...AW, ...multiply(A, n, more)];
  const { vectors } = jacobi(
    Q.map((u, i) => AQ.map((v, j) => (j < i ? 0 : dot(u, v)))).map((row, i, T) =>
      row.map((_, j) => (j < i ? T[j][i] : row[j])),
    ),
  );
  const kept = vectors.slice(0, W.length);
  const step = kept.map((y) => combine(more, y.subarray(W.length)));
  return { W: kept.map((y) => combine(Q, y)), AW: kept.map((y) => combine(AQ, y)), P: step };
}

/** L with A = L Lᵀ for rows A[i]; a little is added to the diagonal where rounding needs it. */
export function cholesky(A) {
  const n = A.length;
  const ridge = 1e-10 * A.reduce((sum, row, i) => sum + row[i], 0);
  const L = A.map(() => new Float64Array(n));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = A[i][j] + (i === j ? ridge / n : 0);
      for (let k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      L[i][j] = i === j ? Math.sqrt(Math.max(sum, 1e-300)) : sum / L[j][j];
    }
  }
  return L;
}

/** L⁻¹ b. */
export function solveLower(L, b) {
  const x = Float64Array.from(b);
  for (let i = 0; i < x.length; i++) {
    for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
    x[i] /= L[i][i];
  }
  return x;
}

/** L⁻ᵀ b. */
export function solveLowerTransposed(L, b) {
  const x = Float64Array.from(b);
  for (let i = x.length - 1; i >= 0; i--) {
    x[i] /= L[i][i];
    for (let k = 0; k < i; k++) x[k] -= L[i][k] * x[i];
  }
  return x;
}

/** Numbers that look random and are the same in every run. */
function randomVector(n, seed) {
  let state = 1 + seed * 7919;
  return Float64Array.from({ length: n }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648 - 0.5;
  });
}

function combine(V, weights) {
  const out = new Float64Array(V[0].length);
  V.forEach((v, k) => addTo(out, v, weights[k]));
  return out;
}

export function addTo(a, b, factor) {
  for (let j = 0; j < a.length; j++) a[j] += factor * b[j];
}

export function dot(a, b) {
  let sum = 0;
  for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
  return sum;
}

export function norm(a) {
  return Math.sqrt(dot(a, a));
}
