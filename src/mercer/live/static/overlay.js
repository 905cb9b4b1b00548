// What lies over the points: axes, the probe, arrows, a walk, a lasso, contours of a component.

import { placeNames } from "./arrows.js";
import { cssColour } from "./dom.js";
import { css, signedColour } from "./palette.js";
import { formatNumber } from "./model.js";

export function drawOverlay(map, context) {
  const { ratio } = map.view;
  const ink = cssColour(map.element, "--ml-ink");
  const quiet = cssColour(map.element, "--ml-quiet");
  const accent = cssColour(map.element, "--ml-accent");
  const paper = cssColour(map.element, "--ml-paper");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, map.width, map.height);
  context.font = "12px system-ui, sans-serif";
  if (map.field) drawField(map, context, ink);
  drawAxes(map, context, quiet);
  if (map.path) drawPath(map, context, accent);
  drawArrows(map, context, ink, paper);
  if (map.hovered !== null)
    ring(map, context, [map.points[2 * map.hovered], map.points[2 * map.hovered + 1]], ink, 8);
  if (map.chosen != null)
    ring(map, context, [map.points[2 * map.chosen], map.points[2 * map.chosen + 1]], accent, 10);
  if (map.probe) drawProbe(map, context, accent, paper);
  if (map.lasso) drawLasso(map, context, accent);
}

/** Ticks along two edges, and what the axes are. */
function drawAxes(map, context, colour) {
  context.fillStyle = context.strokeStyle = colour;
  context.lineWidth = 1;
  const { width, height } = map;
  const [left, bottom] = map.toPlace(0, height);
  const [right, top] = map.toPlace(width, 0);
  context.textAlign = "center";
  for (const x of ticks(left, right, width / 110)) {
    const [px] = map.toPixels(x, 0);
    if (px < 40 || px > width - 24) continue;
    line(context, [px, height - 5], [px, height]);
    context.fillText(formatNumber(x), px, height - 9);
  }
  context.textAlign = "left";
  for (const y of ticks(bottom, top, height / 90)) {
    const [, py] = map.toPixels(0, y);
    if (py < 36 || py > height - 40) continue;
    line(context, [0, py], [5, py]);
    context.fillText(formatNumber(y), 9, py + 4);
  }
  context.textAlign = "right";
  context.fillText(map.axes.x, width - 10, height - 26);
  context.textAlign = "left";
  context.fillText(map.axes.y, 10, 20);
}

/** Round numbers between two edges. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 40; k++) {
    found.push(Math.abs(k * step) < step / 1e6 ? 0 : k * step);
  }
  return found;
}

function drawProbe(map, context, accent, paper) {
  const [x, y] = map.toPixels(...map.probe);
  context.beginPath();
  context.arc(x, y, 9, 0, 2 * Math.PI);
  context.fillStyle = accent;
  context.fill();
  context.lineWidth = 3;
  context.strokeStyle = paper;
  context.stroke();
  context.beginPath();
  context.arc(x, y, 15, 0, 2 * Math.PI);
  context.lineWidth = 1.5;
  context.strokeStyle = accent;
  context.stroke();
}

function ring(map, context, place, colour, radius) {
  const [x, y] = map.toPixels(...place);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.stroke();
}

function drawPath(map, context, colour) {
  context.beginPath();
  map.path.forEach((place, i) => {
    const [x, y] = map.toPixels(...place);
    if (i) context.lineTo(x, y);
    else context.moveTo(x, y);
  });
  context.setLineDash([6, 5]);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.stroke();
  context.setLineDash([]);
}

/** Arrows { from, by: pixels, text }, and then their names, over all of them. */
function drawArrows(map, context, ink, paper) {
  const tips = map.arrows.map((arrow) => {
    const [x, y] = map.toPixels(...arrow.from);
    const tip = [x + arrow.by[0], y - arrow.by[1]];
    drawArrow(context, [x, y], tip, ink);
    const { width } = context.measureText(arrow.text);
    return { x: tip[0], y: tip[1], left: tip[0] < x, width };
  });
  context.textAlign = "left";
  context.fillStyle = ink;
  context.lineWidth = 3;
  context.strokeStyle = paper;
  placeNames(tips, [map.width, map.height]).forEach((at, k) => {
    context.strokeText(map.arrows[k].text, ...at);
    context.fillText(map.arrows[k].text, ...at);
  });
}

function drawArrow(context, from, [x, y], ink) {
  const angle = Math.atan2(y - from[1], x - from[0]);
  context.strokeStyle = context.fillStyle = ink;
  context.lineWidth = 1.5;
  line(context, from, [x, y]);
  context.beginPath();
  context.moveTo(x, y);
  for (const turn of [2.6, -2.6])
    context.lineTo(x + 8 * Math.cos(angle + turn), y + 8 * Math.sin(angle + turn));
  context.fill();
}

function drawLasso(map, context, colour) {
  context.beginPath();
  map.lasso.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.strokeStyle = context.fillStyle = colour;
  context.globalAlpha = 0.15;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.stroke();
}

/** A component over the input plane: { values (side²), side, low, high }, tinted, with contours. */
function drawField(map, context, ink) {
  const { values, side, low, high } = map.field;
  const largest = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
  const place = (i, j) =>
    map.toPixels(
      low[0] + ((high[0] - low[0]) * i) / (side - 1),
      low[1] + ((high[1] - low[1]) * j) / (side - 1),
    );
  const [x0, y0] = place(0, 0);
  const [x1, y1] = place(1, 1);
  const [w, t] = [Math.abs(x1 - x0) + 1, Math.abs(y1 - y0) + 1];
  for (let i = 0; i < side; i++) {
    for (let j = 0; j < side; j++) {
      const [x, y] = place(i, j);
      context.fillStyle = css(signedColour(values[i * side + j] / largest), 0.22);
      context.fillRect(x - w / 2, y - t / 2, w, t);
    }
  }
  context.strokeStyle = ink;
  for (let level = -4; level <= 4; level++) {
    context.globalAlpha = level ? 0.25 : 0.6;
    contour(values, side, (level / 5) * largest, place, context);
  }
  context.globalAlpha = 1;
}

/** Marching squares: the places where a level crosses the edges of each cell. */
function contour(values, side, level, place, context) {
  context.lineWidth = 1;
  const cross = (i, j, k, l) => {
    const [a, b] = [values[i * side + j] - level, values[k * side + l] - level];
    if (a > 0 === b > 0) return null;
    const t = a / (a - b);
    return place(i + t * (k - i), j + t * (l - j));
  };
  for (let i = 0; i + 1 < side; i++) {
    for (let j = 0; j + 1 < side; j++) {
      const met = [
        cross(i, j, i + 1, j),
        cross(i + 1, j, i + 1, j + 1),
        cross(i, j + 1, i + 1, j + 1),
        cross(i, j, i, j + 1),
      ].filter(Boolean);
      for (let k = 0; k + 1 < met.length; k += 2) line(context, met[k], met[k + 1]);
    }
  }
}

function line(context, from, to) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}
