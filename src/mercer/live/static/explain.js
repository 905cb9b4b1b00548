// Why a row is strange: each column's part in its score, and the nearest row that is not.

import { columnsOf, textOf } from "./columns.js";
import { h } from "./dom.js";
import { formatNumber, rowNumber, rowOf } from "./model.js";
import { contributions, threshold } from "./novelty.js";
import { barList, isDark, paintSigned, thumbnail } from "./pictures.js";

/** Columns that are listed. */
const LISTED = 6;

/** What makes row i of the current model strange, or usual; nothing where the file lacks the row. */
export function explainRow(app, i) {
  const { current } = app;
  const x = rowOf(current, i);
  if (!x) return [];
  const { novelty, imageShape } = current.facts;
  const { parts } = contributions(current.P, novelty, x);
  const strange = isStrange(current, i);
  const title = h("h3", {}, strange ? "What makes it strange" : "Which columns make it strange");
  const other = nearestNormal(current, i, new Set(app.flagged));
  if (imageShape) return [title, ...imageParts(app, parts), ...imagePair(current, i, other)];
  const order = columnsOf(current)
    .map((column) => ({ ...column, part: sum(parts.slice(column.at, column.at + column.width)) }))
    .sort((a, b) => Math.abs(b.part) - Math.abs(a.part))
    .slice(0, LISTED);
  const bars = h("div", { class: "ml-bars ml-parts" });
  const largest = Math.abs(order[0].part) || 1;
  barList(
    bars,
    order.map(({ name, part }) => ({ name, share: part / largest, text: formatNumber(part) })),
  );
  return [title, bars, ...valuePair(current, order, i, other)];
}

/** Whether a row lies beyond the threshold of the model's own false-alarm rate. */
function isStrange({ facts, calibration, novelty }, i) {
  return novelty[i] > threshold(calibration, facts.novelty.slack, facts.novelty.rate);
}

/** The strangest row of all. */
export function strangest({ novelty }) {
  let best = 0;
  for (let i = 1; i < novelty.length; i++) if (novelty[i] > novelty[best]) best = i;
  return best;
}

/** The row nearest in feature space that is neither strange nor flagged on the page, or null. */
function nearestNormal(model, i, flagged) {
  const { P, rows, n } = model;
  const x = rowOf(model, i);
  const k = P.kernel.row(x, rows, new Float64Array(n));
  let [best, least] = [null, Infinity];
  for (let j = 0; j < n; j++) {
    if (j === i || flagged.has(j) || isStrange(model, j)) continue;
    const r = P.kernel.diag(rowOf(model, j)) - 2 * k[j]; // and k(x, x), the same for all
    if (r < least) [best, least] = [j, r];
  }
  return best;
}

function imageParts(app, parts) {
  const names = { role: "img", "aria-label": "contribution of each pixel" };
  const canvas = h("canvas", { class: "ml-image", ...names });
  paintSigned(canvas, parts, app.current.facts.imageShape, isDark(app.root));
  return [canvas, h("p", { class: "ml-sub" }, "Orange pixels make it stranger, blue ones more usual.")];
}

function imagePair(model, i, other) {
  if (other === null) return [];
  const figure = (j, text) => h("figure", {}, thumbnail(model, j), h("figcaption", {}, text));
  return [
    h("h3", {}, "Compared with the nearest normal row"),
    h(
      "div",
      { class: "ml-two" },
      figure(i, "this row"),
      figure(other, `row ${rowNumber(model, other)}`),
    ),
  ];
}

function valuePair(model, columns, i, other) {
  if (other === null) return [];
  const [x, y] = [rowOf(model, i), rowOf(model, other)];
  const line = ({ name, of }) =>
    h("tr", {}, h("th", { scope: "row" }, name), ...[x, y].map((p) => h("td", {}, textOf(of(p)))));
  const heads = ["", "this row", `row ${rowNumber(model, other)}`];
  return [
    h("h3", {}, "Compared with the nearest normal row"),
    h(
      "table",
      { class: "ml-table ml-beside" },
      h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ...columns.map(line)),
    ),
  ];
}

function sum(values) {
  return values.reduce((a, b) => a + b, 0);
}
