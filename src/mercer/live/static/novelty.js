// How new a point is: s(x) = Σ a_k z_k² + ρ r(x), its conformal p-value, and which variables did it.

import { scoresAndResidual } from "./subspace.js";
import { preimage } from "./preimage.js";

export function scoreOf(rule, z, residual) {
  let score = rule.outside * residual;
  for (let a = 0; a < z.length; a++) score += rule.inside[a] * z[a] * z[a];
  return score;
}

/** (1 + #{calibration scores ≥ s}) / (n + 1): how rare so large a score is. Never 0. */
export function pValue(calibration, slack, score) {
  let [low, high] = [0, calibration.length];
  while (low < high) {
    const half = (low + high) >> 1;
    if (calibration[half] < score - slack) low = half + 1;
    else high = half;
  }
  return (1 + calibration.length - low) / (calibration.length + 1);
}

/** The score above which a point is called new, for a false-alarm rate. */
export function threshold(calibration, slack, rate) {
  const n = calibration.length;
  const rank = Math.ceil((n + 1) * (1 - rate) - 1e-9);
  return calibration[Math.min(Math.max(rank, 1), n) - 1] + slack;
}

/** ∇s: everything but k(x, x) is one weighted sum of kernel gradients. */
function noveltyGradient(P, rule, x) {
  const { z } = scoresAndResidual(P, x);
  const g = new Float64Array(P.m);
  const w = z.map((value, a) => 2 * (rule.inside[a] - rule.outside) * value);
  for (let i = 0; i < P.m; i++) {
    let sum = -2 * rule.outside * P.mean[i];
    for (let a = 0; a < P.q; a++) sum += P.coef[i * P.q + a] * w[a];
    g[i] = sum;
  }
  const slope = P.kernel.gradient(x, P.support, g, new Float64Array(P.d));
  const own = P.kernel.diagGradient(x, new Float64Array(P.d));
  return slope.map((value, j) => value + rule.outside * own[j]);
}

/** Places and weights of the Gauss-Legendre rule with eight nodes on [-1, 1]. */
const NODES = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
].flatMap(([place, weight]) => [
  [-place, weight],
  [place, weight],
]);

/**
 * Each variable's part in the score: its gradient, integrated along the line from the point that
 * the model would put in its place. As mercer.novelty.contributions.
 */
export function contributions(P, rule, x) {
  const reference = preimage(P, scoresAndResidual(P, x).z, x).point;
  const slope = new Float64Array(P.d);
  for (const [place, weight] of NODES) {
    const u = (1 + place) / 2;
    // t = u², dt = 2u du: most places near the reference, because a bounded kernel saturates.
    const there = reference.map((value, j) => value + u * u * (x[j] - value));
    const gradient = noveltyGradient(P, rule, there);
    for (let j = 0; j < P.d; j++) slope[j] += weight * u * gradient[j];
  }
  return { parts: slope.map((value, j) => value * (x[j] - reference[j])), reference };
}
