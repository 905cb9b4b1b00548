// Local variable arrows: which variables would move a row on the map, by the kernel's gradient.

import { rowOf } from "./model.js";
import { scoreGradients } from "./subspace.js";

/** How many, and how long the longest is, in pixels. */
const [MOST, LONGEST] = [4, 70];
/** The height of a line of text, in pixels. */
const LINE = 15;

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

/**
 * Where the names of arrows stand: beside their tips, moved up or down until none covers another.
 * @param tips [{ x, y, left: whether the arrow points there, width of the text }] in pixels
 * @param size of the map, [width, height]
 * @returns [[x, y]] of the left ends of the texts, on their base lines
 */
export function placeNames(tips, [width, height]) {
  const taken = [];
  return tips.map((tip) => {
    const beside = tip.left ? tip.x - 6 - tip.width : tip.x + 6;
    const x = Math.min(Math.max(beside, 4), Math.max(width - tip.width - 4, 4));
    const free = (y) =>
      y > LINE &&
      y < height - 4 &&
      !taken.some((t) => Math.abs(t.y - y) < LINE && x < t.x + t.width + 4 && t.x < x + tip.width + 4);
    const steps = Array.from({ length: 16 }, (_, k) => (k % 2 ? -1 : 1) * Math.ceil(k / 2) * (LINE / 2));
    const y = steps.map((step) => tip.y + 4 + step).find(free) ?? tip.y + 4;
    taken.push({ x, y, width: tip.width });
    return [x, y];
  });
}
