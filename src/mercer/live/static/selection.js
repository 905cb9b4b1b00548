// The rows that are selected: how they differ from the rest, which they are, and their CSV.

import { contrast } from "./contrast.js";
import { columnsOf } from "./columns.js";
import { button, download, h } from "./dom.js";
import { labelOf, rowNumber, rowOf } from "./model.js";
import { makePicture, pairChart, thumbnail } from "./pictures.js";

/** Columns, and rows, that are shown. */
const [COLUMNS, ROWS] = [6, 60];

export function selectionView(app, rows) {
  const { current } = app;
  const many = (count) => count.toLocaleString("en");
  const save = () =>
    download("selection.csv", new Blob([csvOf(current, rows)], { type: "text/csv" }));
  const more = rows.length - ROWS;
  return [
    h("h3", {}, `${many(rows.length)} rows selected`),
    h(
      "div",
      { class: "ml-row" },
      button("CSV of these", save),
      button("Clear", () => app.select(null)),
    ),
    ...against(current, rows),
    h("h3", {}, "The rows"),
    h(
      "ul",
      {},
      rows.slice(0, ROWS).map((i) => h("li", {}, rowButton(app, i))),
    ),
    more > 0 ? h("p", { class: "ml-sub" }, `and ${many(more)} more, in the CSV and the table`) : "",
  ];
}

/** The columns that differ most, each with its two histograms. */
function against(model, rows) {
  const rest = model.n - rows.length;
  if (!rows.length || !rest) return [];
  const entries = contrast(model, rows).slice(0, COLUMNS);
  const line = ({ name, words, inside, outside }) =>
    h(
      "div",
      { class: "ml-against" },
      h("b", {}, name),
      h("span", { class: "ml-sub" }, words),
      pairChart(`${name}: ${words}`, inside, outside),
    );
  return [
    h("h3", {}, `Against the other ${rest.toLocaleString("en")}`),
    ...meanImages(model, rows),
    ...entries.map(line),
  ];
}

/** Of images: the mean of the selection, and that of the rest. */
function meanImages(model, rows) {
  if (!model.facts.imageShape || !model.rows) return [];
  const chosen = new Set(rows);
  const rest = Array.from({ length: model.n }, (_, i) => i).filter((i) => !chosen.has(i));
  const figure = (side, text) => {
    const picture = makePicture(model, text);
    picture.show(meanOf(model.rows, side));
    return h("figure", {}, picture.element, h("figcaption", {}, text));
  };
  return [
    h("div", { class: "ml-two" }, figure(rows, "their mean"), figure(rest, "the others' mean")),
  ];
}

function meanOf({ data, d }, rows) {
  const mean = new Float64Array(d);
  for (const i of rows) for (let j = 0; j < d; j++) mean[j] += data[i * d + j] / rows.length;
  return mean;
}

/** A row to press: its picture where it has one, else its number and class. */
function rowButton(app, i) {
  const { current } = app;
  const name = `${rowNumber(current, i)} ${labelOf(current, i)}`;
  const picture = thumbnail(current, i);
  const look = { class: picture ? "ml-tile ml-thumb" : "ml-button ml-chip", title: `row ${name}` };
  return button(picture ?? name, () => app.choose(i), look);
}

/** Rows as CSV: number, label, scores, error, p-value, and the columns where the file holds them. */
export function csvOf(model, rows) {
  const { facts, scores: Z } = model;
  const quote = (text) => {
    // A cell that a spreadsheet would take for a formula is kept as text.
    const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const withRows = model.rows && model.d <= 2000;
  const columns = columnsOf(model);
  const short = (value) => (typeof value === "number" ? Number(value.toPrecision(7)) : value);
  const head = [
    "row",
    ...(model.codes || model.values ? ["label"] : []),
    ...Array.from({ length: Z.q }, (_, a) => `z${a}`),
    "error",
    facts.novelty.heldOut ? "p_value" : "rank",
    ...(withRows ? columns.map(({ name }) => name) : []),
  ];
  const lines = rows.map((i) => [
    rowNumber(model, i),
    ...(model.codes || model.values ? [labelOf(model, i)] : []),
    ...Z.data.subarray(i * Z.q, (i + 1) * Z.q),
    model.error[i],
    model.pValues[i],
    ...(withRows ? columns.map(({ of }) => short(of(rowOf(model, i)))) : []),
  ]);
  return (
    [head, ...lines].map((line) => line.map((cell) => quote(String(cell))).join(",")).join("\n") +
    "\n"
  );
}
