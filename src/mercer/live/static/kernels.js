// Kernels k(x, y): the same formulas and letters as mercer.kernels.
//
// A kernel has
//   row(x, S, out)          out_i = k(x, s_i)
//   diag(x)                 k(x, x)
//   gradient(x, S, g, out)  out = ∇_x Σ_i g_i k(x, s_i)
//   diagGradient(x, out)    out = ∇_x k(x, x)
// S is { data, m, d }: m points of d numbers, one after the other. Points of radial kernels are
// shifted by the origin of the model, which no distance notices.

/** A kernel from its description, as mercer.live.kernels writes it. */
export function makeKernel(spec) {
  const make = KERNELS[spec.name];
  if (!make) throw new Error(`the page does not know the kernel ${spec.name}`);
  return make(spec);
}

/** Whether the kernel is a function of the distance alone: then Mika's iteration can be used. */
export function isRadial(spec) {
  return ["gaussian", "cauchy", "rational_quadratic", "matern"].includes(spec.name);
}

/** Whether the kernel, or a part of it, has kinks or does not see lengths: no descent then. */
export function isKinked(spec) {
  if (spec.k1) return isKinked(spec.k1) || isKinked(spec.k2);
  if (spec.kernel) return isKinked(spec.kernel);
  return ["laplacian", "chi2", "cosine"].includes(spec.name);
}

/** The squared distance between x and the point of S that begins at `at`. */
export function squaredDistance(x, data, at, d) {
  let sum = 0;
  for (let j = 0; j < d; j++) {
    const step = x[j] - data[at + j];
    sum += step * step;
  }
  return sum;
}

export function dotProduct(x, data, at, d) {
  let sum = 0;
  for (let j = 0; j < d; j++) sum += x[j] * data[at + j];
  return sum;
}

// ---- functions of the distance: k = f(t), t = -|x - y|²/ℓ² ----

/** f and f′ of t ≤ 0 for each radial kernel. */
const PROFILES = {
  gaussian: () => ({ f: Math.exp, slope: Math.exp }),
  cauchy: () => ({ f: (t) => 1 / (1 - t), slope: (t) => 1 / ((1 - t) * (1 - t)) }),
  rational_quadratic: ({ alpha }) => ({
    f: (t) => Math.exp(-alpha * Math.log1p(-t / (2 * alpha))),
    slope: (t) => 0.5 * Math.exp((-alpha - 1) * Math.log1p(-t / (2 * alpha))),
  }),
  matern: ({ nu }) => ({
    f: (t) => {
      const a = Math.sqrt(-2 * nu * t);
      const polynomial = nu === 0.5 ? 1 : nu === 1.5 ? 1 + a : 1 + a + (a * a) / 3;
      return polynomial * Math.exp(-a);
    },
    slope: (t) => {
      const a = Math.sqrt(-2 * nu * t);
      const factor = nu === 0.5 ? 0.5 / Math.max(a, 1e-12) : nu === 1.5 ? 1.5 : (5 / 6) * (1 + a);
      return factor * Math.exp(-a);
    },
  }),
};

function radial(spec) {
  const { f, slope } = PROFILES[spec.name](spec);
  const perSquare = -1 / (spec.length * spec.length);
  return {
    spec,
    f,
    slope,
    length: spec.length,
    row(x, S, out) {
      for (let i = 0; i < S.m; i++)
        out[i] = f(perSquare * squaredDistance(x, S.data, i * S.d, S.d));
      return out;
    },
    diag: () => 1,
    gradient(x, S, g, out) {
      // dk/dx = f′(t) · (-2/ℓ²)(x - s)
      out.fill(0);
      let total = 0;
      for (let i = 0; i < S.m; i++) {
        const at = i * S.d;
        const w = g[i] * slope(perSquare * squaredDistance(x, S.data, at, S.d));
        total += w;
        for (let j = 0; j < S.d; j++) out[j] -= w * S.data[at + j];
      }
      for (let j = 0; j < S.d; j++) out[j] = 2 * perSquare * (out[j] + total * x[j]);
      return out;
    },
    diagGradient: (x, out) => out.fill(0),
  };
}

// ---- functions of the dot product: k = f(p), p = x·y ----

const DOT_PROFILES = {
  linear: () => ({ f: (p) => p, slope: () => 1 }),
  polynomial: ({ degree, gamma, coef0 }) => ({
    f: (p) => (gamma * p + coef0) ** degree,
    slope: (p) => degree * gamma * (gamma * p + coef0) ** (degree - 1),
  }),
  sigmoid: ({ gamma, coef0 }) => ({
    f: (p) => Math.tanh(gamma * p + coef0),
    slope: (p) => gamma * (1 - Math.tanh(gamma * p + coef0) ** 2),
  }),
};

function dotKernel(spec) {
  const { f, slope } = DOT_PROFILES[spec.name](spec);
  return {
    spec,
    row(x, S, out) {
      for (let i = 0; i < S.m; i++) out[i] = f(dotProduct(x, S.data, i * S.d, S.d));
      return out;
    },
    diag: (x) => f(dotProduct(x, x, 0, x.length)),
    gradient(x, S, g, out) {
      out.fill(0);
      for (let i = 0; i < S.m; i++) {
        const at = i * S.d;
        const w = g[i] * slope(dotProduct(x, S.data, at, S.d));
        for (let j = 0; j < S.d; j++) out[j] += w * S.data[at + j];
      }
      return out;
    },
    diagGradient(x, out) {
      const w = 2 * slope(dotProduct(x, x, 0, x.length));
      for (let j = 0; j < x.length; j++) out[j] = w * x[j];
      return out;
    },
  };
}

function cosine(spec) {
  const norm = (data, at, d) => {
    let sum = 0;
    for (let j = 0; j < d; j++) sum += data[at + j] * data[at + j];
    return Math.sqrt(sum);
  };
  const overNorm = (size) => (size === 0 ? 0 : 1 / size);
  return {
    spec,
    row(x, S, out) {
      const own = overNorm(norm(x, 0, S.d));
      for (let i = 0; i < S.m; i++) {
        const at = i * S.d;
        out[i] = dotProduct(x, S.data, at, S.d) * own * overNorm(norm(S.data, at, S.d));
      }
      return out;
    },
    diag: (x) => (x.some((value) => value !== 0) ? 1 : 0),
    gradient(x, S, g, out) {
      // d/dx (x·s/|x||s|) = (ŝ - x̂ (x̂·ŝ)) / |x|
      const own = overNorm(norm(x, 0, S.d));
      out.fill(0);
      for (let i = 0; i < S.m; i++) {
        const at = i * S.d;
        const w = g[i] * overNorm(norm(S.data, at, S.d));
        for (let j = 0; j < S.d; j++) out[j] += w * S.data[at + j];
      }
      const along = dotProduct(x, out, 0, S.d) * own * own;
      for (let j = 0; j < S.d; j++) out[j] = (out[j] - along * x[j]) * own;
      return out;
    },
    diagGradient: (x, out) => out.fill(0),
  };
}

// ---- entry by entry: k = exp(-γ Σ_a cost(x_a, y_a)) ----

const COSTS = {
  laplacian: { cost: (x, y) => Math.abs(x - y), slope: (x, y) => Math.sign(x - y) },
  chi2: {
    cost: (x, y) => (x + y > 0 ? ((x - y) * (x - y)) / (x + y) : 0),
    slope: (x, y) => (x + y > 0 ? ((x - y) * (x + 3 * y)) / ((x + y) * (x + y)) : 0),
  },
};

function entrywise(spec) {
  const { cost, slope } = COSTS[spec.name];
  const gamma = spec.gamma;
  const value = (x, data, at, d) => {
    let sum = 0;
    for (let j = 0; j < d; j++) sum += cost(x[j], data[at + j]);
    return Math.exp(-gamma * sum);
  };
  return {
    spec,
    row(x, S, out) {
      for (let i = 0; i < S.m; i++) out[i] = value(x, S.data, i * S.d, S.d);
      return out;
    },
    diag: () => 1,
    gradient(x, S, g, out) {
      out.fill(0);
      for (let i = 0; i < S.m; i++) {
        const at = i * S.d;
        const w = -gamma * g[i] * value(x, S.data, at, S.d);
        for (let j = 0; j < S.d; j++) out[j] += w * slope(x[j], S.data[at + j]);
      }
      return out;
    },
    diagGradient: (x, out) => out.fill(0),
  };
}

// ---- made of others ----

function sum(spec) {
  return pair(spec, {
    value: (a, b) => a + b,
    weights: (g) => [g, g],
    diagWeights: () => [1, 1],
  });
}

function product(spec) {
  return pair(spec, {
    value: (a, b) => a * b,
    // The product rule: each part is weighted by the value of the other.
    weights: (g, k1, k2) => [g.map((w, i) => w * k2[i]), g.map((w, i) => w * k1[i])],
    diagWeights: (a, b) => [b, a],
  });
}

function pair(spec, { value, weights, diagWeights }) {
  const [k1, k2] = [makeKernel(spec.k1), makeKernel(spec.k2)];
  const rows = (x, S) => [k1.row(x, S, new Float64Array(S.m)), k2.row(x, S, new Float64Array(S.m))];
  const add = (a, b, wa, wb, out) => {
    for (let j = 0; j < out.length; j++) out[j] = wa * a[j] + wb * b[j];
    return out;
  };
  return {
    spec,
    row(x, S, out) {
      const [a, b] = rows(x, S);
      for (let i = 0; i < S.m; i++) out[i] = value(a[i], b[i]);
      return out;
    },
    diag: (x) => value(k1.diag(x), k2.diag(x)),
    gradient(x, S, g, out) {
      const [g1, g2] = weights(g, ...rows(x, S));
      const [a, b] = [new Float64Array(S.d), new Float64Array(S.d)];
      return add(k1.gradient(x, S, g1, a), k2.gradient(x, S, g2, b), 1, 1, out);
    },
    diagGradient(x, out) {
      const [w1, w2] = diagWeights(k1.diag(x), k2.diag(x));
      const [a, b] = [new Float64Array(x.length), new Float64Array(x.length)];
      return add(k1.diagGradient(x, a), k2.diagGradient(x, b), w1, w2, out);
    },
  };
}

function scaled(spec) {
  const { factor } = spec;
  const inner = makeKernel(spec.kernel);
  const times = (out) => {
    for (let j = 0; j < out.length; j++) out[j] *= factor;
    return out;
  };
  return {
    spec,
    row: (x, S, out) => times(inner.row(x, S, out)),
    diag: (x) => factor * inner.diag(x),
    gradient: (x, S, g, out) => times(inner.gradient(x, S, g, out)),
    diagGradient: (x, out) => times(inner.diagGradient(x, out)),
  };
}

const KERNELS = {
  gaussian: radial,
  cauchy: radial,
  rational_quadratic: radial,
  matern: radial,
  linear: dotKernel,
  polynomial: dotKernel,
  sigmoid: dotKernel,
  cosine,
  laplacian: entrywise,
  chi2: entrywise,
  sum,
  product,
  scaled,
};
