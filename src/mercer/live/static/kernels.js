// Kernels k(x, y), computed by the formulas of mercer.kernels that mercer.live.protocol has traced.
//
// A kernel has
//   row(x, S, out)          out_i = k(x, s_i)
//   diag(x)                 k(x, x)
//   gradient(x, S, g, out)  out = ∇_x Σ_i g_i k(x, s_i)
//   diagGradient(x, out)    out = ∇_x k(x, x)
// S is { data, m, d }: m points of d numbers, one after the other. Points of radial kernels are
// shifted by the origin of the model, which no distance notices.

/** A kernel from its description, as mercer.live.protocol writes it. */
export function makeKernel(spec) {
  if (spec.k1) return spec.name === "sum" ? sum(spec) : product(spec);
  if (spec.name === "normalized") return normalized(spec);
  return spec.kernel ? scaled(spec) : simple(spec);
}

/** Whether the kernel is a function of the distance alone: then Mika's iteration can be used. */
export function isRadial(spec) {
  return spec.of === "distance";
}

/** Whether the kernel, or a part of it, has kinks or does not see lengths: no descent then. */
export function isKinked(spec) {
  if (spec.k1) return isKinked(spec.k1) || isKinked(spec.k2);
  if (spec.kernel) return spec.name === "normalized" || isKinked(spec.kernel);
  return spec.of === "entries" || spec.of === "cosine";
}

/** What Python calls the kernel: its name and numbers, without the formula. */
export function plainSpec({ class: kind, of, scale, nodes, f, slope, ...plain }) {
  return plain;
}

/** A kernel as Python writes it. */
export function kernelText(spec, digits = 8) {
  const number = (value) => Number(value?.toPrecision(digits));
  const inside =
    {
      gaussian: `width=${number(spec.length)}`,
      matern: `${number(spec.length)}, nu=${spec.nu}`,
      cauchy: number(spec.length),
      rational_quadratic: `${number(spec.length)}, alpha=${spec.alpha}`,
      laplacian: `gamma=${number(spec.gamma)}`,
      polynomial: `3, gamma=${number(spec.gamma)}`,
    }[spec.name] ?? "";
  return `${spec.class}(${inside})`;
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

// ---- traced formulas, of whole arrays: a node is one loop ----

const each = (value) => (out, a, b) => {
  for (let j = 0; j < out.length; j++) out[j] = value(a[j], b?.[j]);
};
/** What a node does, by its kind; the arithmetic in loops of its own, which are faster. */
const NODES = {
  Add(out, a, b) {
    for (let j = 0; j < out.length; j++) out[j] = a[j] + b[j];
  },
  Sub(out, a, b) {
    for (let j = 0; j < out.length; j++) out[j] = a[j] - b[j];
  },
  Mul(out, a, b) {
    for (let j = 0; j < out.length; j++) out[j] = a[j] * b[j];
  },
  Div(out, a, b) {
    for (let j = 0; j < out.length; j++) out[j] = a[j] / b[j];
  },
  Exp(out, a) {
    for (let j = 0; j < out.length; j++) out[j] = Math.exp(a[j]);
  },
  Abs(out, a) {
    for (let j = 0; j < out.length; j++) out[j] = Math.abs(a[j]);
  },
  Pow: each(Math.pow),
  Max: each(Math.max),
  Min: each(Math.min),
  Neg: each((a) => -a),
  Sign: each(Math.sign),
  Sqrt: each(Math.sqrt),
  Log: each(Math.log),
  Tanh: each(Math.tanh),
};

/** Node `last` as a function (out, x, y) → out of arrays, the first nodes; out may be x. */
function compiled(nodes, last) {
  const needed = new Set([last]);
  for (let i = last; i >= 0; i--) {
    if (needed.has(i) && NODES[nodes[i][0]]) nodes[i].slice(1).forEach((a) => needed.add(a));
  }
  const steps = nodes.flatMap(([kind, a, b], i) =>
    NODES[kind] && needed.has(i) ? [{ run: NODES[kind], i, a, b }] : [],
  );
  const [{ run, a, b } = {}] = steps;
  if (steps.length === 1 && a === 0 && b === undefined)
    return (out, x) => (run(out, x), out); // the Gaussian
  let v = [];
  return (out, x, y) => {
    if (v.at(-1)?.length !== out.length)
      v = nodes.map(([kind, value]) =>
        new Float64Array(out.length).fill(kind === "Number" ? value : 0),
      );
    v[0] = x;
    if (y) v[1] = y;
    if (steps.length) v[last] = out;
    for (const step of steps) step.run(v[step.i], v[step.a], v[step.b]);
    if (!steps.length) out.set(v[last]);
    return out;
  };
}

// ---- k = f(scale · u(x, y)) ----

const norm = (data, at, d) => {
  let sum = 0;
  for (let j = 0; j < d; j++) sum += data[at + j] * data[at + j];
  return Math.sqrt(sum);
};
const inverse = (size) => (size === 0 ? 0 : 1 / size);
/** (I - x̂x̂ᵀ) out / |x|: what points along x is lost. */
const alongSphere = (out, x) => {
  const own = inverse(norm(x, 0, x.length));
  const along = dotProduct(x, out, 0, x.length) * own * own;
  for (let j = 0; j < x.length; j++) out[j] = (out[j] - along * x[j]) * own;
  return out;
};
const addPoint = (out, w, x, data, at, d) => {
  for (let j = 0; j < d; j++) out[j] += w * data[at + j];
};

/**
 * What u is: its value for x and a point s of S (times the size of x, if there is one), and for x
 * and x; out += w (what s gives to ∇u), of which `finish` makes ∇ Σ w u.
 */
const ARGUMENTS = {
  distance: () => ({
    value: squaredDistance,
    own: () => 0,
    add: addPoint,
    finish(out, total, x) {
      for (let j = 0; j < x.length; j++) out[j] = 2 * (total * x[j] - out[j]);
    },
  }),
  dot: () => ({
    value: dotProduct,
    own: (x) => dotProduct(x, x, 0, x.length),
    add: addPoint,
    finish() {},
  }),
  cosine: () => ({
    size: (x) => inverse(norm(x, 0, x.length)),
    value: (x, data, at, d) => dotProduct(x, data, at, d) * inverse(norm(data, at, d)),
    own: (x) => (x.some((value) => value !== 0) ? 1 : 0),
    add: (out, w, x, data, at, d) =>
      addPoint(out, w * inverse(norm(data, at, d)), x, data, at, d),
    finish: (out, total, x) => alongSphere(out, x), // d/dx (x·s/|x||s|) = (ŝ - x̂ (x̂·ŝ)) / |x|
  }),
  entries({ nodes, f, slope }) {
    const [cost, rise] = [compiled(nodes, f), compiled(nodes, slope)];
    let terms = new Float64Array(0);
    const termsOf = (formula, x, data, at, d) => {
      if (terms.length !== d) terms = new Float64Array(d);
      return formula(terms, x, data.subarray(at, at + d));
    };
    return {
      value(x, data, at, d) {
        const costs = termsOf(cost, x, data, at, d);
        let sum = 0;
        for (let j = 0; j < d; j++) sum += costs[j];
        return sum;
      },
      own: () => 0,
      add: (out, w, x, data, at, d) =>
        addPoint(out, w, x, termsOf(rise, x, data, at, d), 0, d),
      finish() {},
    };
  },
};

function simple(spec) {
  const { of, scale, nodes } = spec;
  const u = ARGUMENTS[of](spec);
  const f = of === "entries" ? (out, t) => (NODES.Exp(out, t), out) : compiled(nodes, spec.f);
  const same = of === "entries" || spec.f === spec.slope;
  const slope = same ? f : compiled(nodes, spec.slope);
  const one = new Float64Array(1);
  const ofOne = (formula, t) => formula(one, one.fill(t))[0];
  const fill = (x, S, out) => {
    const factor = scale * (u.size?.(x) ?? 1);
    for (let i = 0; i < S.m; i++) out[i] = factor * u.value(x, S.data, i * S.d, S.d);
    return out;
  };
  return {
    spec,
    f,
    slope,
    length: spec.length ?? (of === "distance" ? Math.sqrt(-1 / scale) : undefined),
    row: (x, S, out) => f(out, fill(x, S, out)),
    diag: (x) => ofOne(f, scale * u.own(x)),
    gradient(x, S, g, out) {
      const w = fill(x, S, new Float64Array(S.m));
      slope(w, w);
      out.fill(0);
      let total = 0;
      for (let i = 0; i < S.m; i++) {
        w[i] *= g[i] * scale;
        total += w[i];
        u.add(out, w[i], x, S.data, i * S.d, S.d);
      }
      u.finish(out, total, x);
      return out;
    },
    diagGradient(x, out) {
      // Only dot products change with x when y moves along.
      const w = of === "dot" ? 2 * scale * ofOne(slope, scale * u.own(x)) : 0;
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

function normalized(spec) {
  const inner = makeKernel(spec.kernel);
  const units = new WeakMap(); // of the points of S, which are asked for again and again
  const unit = (data, m, d) => {
    const found = new Float64Array(m * d);
    for (let i = 0; i < m; i++) {
      const size = inverse(norm(data, i * d, d));
      for (let j = i * d; j < (i + 1) * d; j++) found[j] = size * data[j];
    }
    return found;
  };
  const directions = (S) => {
    if (!units.has(S.data)) units.set(S.data, unit(S.data, S.m, S.d));
    return { ...S, data: units.get(S.data) };
  };
  const direction = (x) => unit(x, 1, x.length);
  return {
    spec,
    row: (x, S, out) => inner.row(direction(x), directions(S), out),
    diag: (x) => inner.diag(direction(x)),
    gradient: (x, S, g, out) =>
      alongSphere(inner.gradient(direction(x), directions(S), g, out), x),
    diagGradient: (x, out) => alongSphere(inner.diagGradient(direction(x), out), x),
  };
}
