// Kernels k(x, y), computed by the formulas of mercer.kernels that mercer.live.kernels has traced.
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
  if (spec.k1) return spec.name === "sum" ? sum(spec) : product(spec);
  return spec.kernel ? scaled(spec) : simple(spec);
}

/** Whether the kernel is a function of the distance alone: then Mika's iteration can be used. */
export function isRadial(spec) {
  return spec.of === "distance";
}

/** Whether the kernel, or a part of it, has kinks or does not see lengths: no descent then. */
export function isKinked(spec) {
  if (spec.k1) return isKinked(spec.k1) || isKinked(spec.k2);
  if (spec.kernel) return isKinked(spec.kernel);
  return spec.of === "entries" || spec.of === "cosine";
}

/** What Python calls the kernel: its name and numbers, without the formula. */
export function plainSpec({ class: kind, of, scale, nodes, f, slope, ...plain }) {
  return plain;
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

// ---- traced formulas ----

/** What a node does, by its kind: v_i from v_a and v_b. */
const NODES = {
  Add: (v, i, a, b) => () => (v[i] = v[a] + v[b]),
  Sub: (v, i, a, b) => () => (v[i] = v[a] - v[b]),
  Mul: (v, i, a, b) => () => (v[i] = v[a] * v[b]),
  Div: (v, i, a, b) => () => (v[i] = v[a] / v[b]),
  Pow: (v, i, a, b) => () => (v[i] = v[a] ** v[b]),
  Max: (v, i, a, b) => () => (v[i] = Math.max(v[a], v[b])),
  Min: (v, i, a, b) => () => (v[i] = Math.min(v[a], v[b])),
  Neg: (v, i, a) => () => (v[i] = -v[a]),
  Abs: (v, i, a) => () => (v[i] = Math.abs(v[a])),
  Sign: (v, i, a) => () => (v[i] = Math.sign(v[a])),
  Sqrt: (v, i, a) => () => (v[i] = Math.sqrt(v[a])),
  Exp: (v, i, a) => () => (v[i] = Math.exp(v[a])),
  Log: (v, i, a) => () => (v[i] = Math.log(v[a])),
  Tanh: (v, i, a) => () => (v[i] = Math.tanh(v[a])),
};

/** Node `out` as a function of the first ones, which are its arguments. */
function compiled(nodes, out) {
  const [kind, first] = nodes[out];
  if (kind === "Argument") return (x) => x;
  if (kind === "Exp" && first === 0) return Math.exp; // the Gaussian, which is dragged most
  const v = Float64Array.from(nodes, ([type, value]) => (type === "Number" ? value : 0));
  const needed = new Set([out]);
  for (let i = out; i >= 0; i--) {
    if (needed.has(i) && NODES[nodes[i][0]]) nodes[i].slice(1).forEach((a) => needed.add(a));
  }
  const steps = [...needed]
    .sort((a, b) => a - b)
    .filter((i) => NODES[nodes[i][0]])
    .map((i) => NODES[nodes[i][0]](v, i, ...nodes[i].slice(1)));
  const two = nodes[1]?.[0] === "Argument";
  return (x, y) => {
    v[0] = x;
    if (two) v[1] = y;
    for (let i = 0; i < steps.length; i++) steps[i]();
    return v[out];
  };
}

// ---- k = f(scale · u(x, y)) ----

const norm = (data, at, d) => {
  let sum = 0;
  for (let j = 0; j < d; j++) sum += data[at + j] * data[at + j];
  return Math.sqrt(sum);
};
const inverse = (size) => (size === 0 ? 0 : 1 / size);

/** What u is: its value for x and a point of S, for x and x, and out += w ∇u. */
const ARGUMENTS = {
  distance: () => ({
    value: squaredDistance,
    own: () => 0,
    add(out, w, x, data, at, d) {
      for (let j = 0; j < d; j++) out[j] += 2 * w * (x[j] - data[at + j]);
    },
  }),
  dot: () => ({
    value: dotProduct,
    own: (x) => dotProduct(x, x, 0, x.length),
    add(out, w, x, data, at, d) {
      for (let j = 0; j < d; j++) out[j] += w * data[at + j];
    },
  }),
  cosine: () => ({
    value: (x, data, at, d) =>
      dotProduct(x, data, at, d) * inverse(norm(x, 0, d)) * inverse(norm(data, at, d)),
    own: (x) => (x.some((value) => value !== 0) ? 1 : 0),
    add(out, w, x, data, at, d) {
      // d/dx (x·s/|x||s|) = (ŝ - x̂ (x̂·ŝ)) / |x|
      const [own, other] = [inverse(norm(x, 0, d)), inverse(norm(data, at, d))];
      const along = dotProduct(x, data, at, d) * own * own;
      for (let j = 0; j < d; j++) out[j] += w * own * other * (data[at + j] - along * x[j]);
    },
  }),
  entries({ nodes, f, slope }) {
    const [cost, rise] = [compiled(nodes, f), compiled(nodes, slope)];
    return {
      value(x, data, at, d) {
        let sum = 0;
        for (let j = 0; j < d; j++) sum += cost(x[j], data[at + j]);
        return sum;
      },
      own: () => 0,
      add(out, w, x, data, at, d) {
        for (let j = 0; j < d; j++) out[j] += w * rise(x[j], data[at + j]);
      },
    };
  },
};

function simple(spec) {
  const { of, scale, nodes } = spec;
  const u = ARGUMENTS[of](spec);
  const f = of === "entries" ? Math.exp : compiled(nodes, spec.f);
  const same = of === "entries" || spec.f === spec.slope;
  const slope = same ? f : compiled(nodes, spec.slope);
  return {
    spec,
    f,
    slope,
    length: spec.length ?? (of === "distance" ? Math.sqrt(-1 / scale) : undefined),
    row(x, S, out) {
      for (let i = 0; i < S.m; i++) out[i] = f(scale * u.value(x, S.data, i * S.d, S.d));
      return out;
    },
    diag: (x) => f(scale * u.own(x)),
    gradient(x, S, g, out) {
      out.fill(0);
      for (let i = 0; i < S.m; i++) {
        const at = i * S.d;
        const w = g[i] * scale * slope(scale * u.value(x, S.data, at, S.d));
        u.add(out, w, x, S.data, at, S.d);
      }
      return out;
    },
    diagGradient(x, out) {
      // Only dot products change with x when y moves along.
      const w = of === "dot" ? 2 * scale * slope(scale * u.own(x)) : 0;
      for (let j = 0; j < x.length; j++) out[j] = w * x[j];
      return out;
    },
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
