// Local variable arrows: which variables would move a row on the map, by the kernel's gradient.

import { rowOf } from "./model.js";
import { scoreGradients } from "./subspace.js";

/** How many, and how long the longest is, in pixels. */
const [MOST, LONGEST] = [4, 70];

/** The variables that would move row i most, one spread of each. */
export function arrowsAt({ current, state, map }, i) {
  const x = rowOf(current, i);
  const { names, imageShape } = current.facts;
  if (!x || imageShape || state.space === "input" || current.d < 2) return [];
  const [gx, gy] = scoreGradients(current.P, x, [state.x, state.y]);
  const moves = names
    .map((text, j) => {
      const s = current.spread.deviation[j];
      return { text, by: [gx[j] * s, gy[j] * s], size: Math.hypot(gx[j] * s, gy[j] * s) };
    })
    .sort((a, b) => b.size - a.size)
    .slice(0, MOST);
  const from = [map.points[2 * i], map.points[2 * i + 1]];
  const unit = LONGEST / (moves[0].size || 1);
  return moves
    .filter((move) => move.size * unit > 10)
    .map((move) => ({ from, text: move.text, by: move.by.map((v) => v * unit) }));
}
