// Colours that people with any colour vision can tell apart, on light and on dark paper.

import { columnsOf, wordsFor } from "./columns.js";
import { rowOf } from "./model.js";

/** Classes: after Okabe & Ito and Tol, ordered so that the first few differ most. */
const CLASSES = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#cc79a7",
  "#56b4e9",
  "#d55e00",
  "#a6a13a",
  "#8c6bb1",
  "#7f7f7f",
  "#44aa99",
];
/** Numbers: dark to bright with steadily growing lightness. */
const SCALE = ["#4b3b9c", "#2f6fb5", "#22a39a", "#8ccb4d", "#f6e03b"];
/** Below and above zero, on light and on dark paper. */
const SIGNED = ["#2166ac", "#f2f2f2", "#c2510c"];
const SIGNED_DARK = ["#5aa5e8", "#1e232b", "#f0914e"];
/** Rows that are called new, and the others. */
const FLAGS = ["#9aa4b4", "#d55e00"];

export function classColour(k) {
  return CLASSES[k % CLASSES.length];
}

/** A colour [r, g, b] for a share between 0 and 1. */
export function scaleColour(share) {
  return between(SCALE, share);
}

/** A colour [r, g, b] for a number between -1 and 1. */
export function signedColour(value, dark = false) {
  return between(dark ? SIGNED_DARK : SIGNED, (value + 1) / 2);
}

/** The colouring of a page that opens: by class, or by the first category. */
export function firstColouring(model) {
  const few = ({ values }) => values && values.length <= CLASSES.length;
  const j = model.codes || model.values || !model.rows ? -1 : columnsOf(model).findIndex(few);
  return j < 0 ? "label" : `column:${j}`;
}

export function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export function css([r, g, b], alpha = 1) {
  return `rgba(${Math.round(r)},${Math.round(g)},${Math.round(b)},${alpha})`;
}

function between(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [rgb(stops[k]), rgb(stops[k + 1])];
  return a.map((value, j) => value + (place - k) * (b[j] - value));
}

/**
 * Colours of all points, four bytes each, and what they mean.
 * @param by "label", "error", "p", "new", "plain", or "column:j"
 * @param flagged for "new": the rows that are
 */
export function colourPoints(model, by, flagged = []) {
  const rgba = new Uint8Array(model.n * 4);
  const paint = (i, [r, g, b]) => rgba.set([r, g, b, 255], i * 4);
  const column = by.startsWith("column:") ? Number(by.slice(7)) : null;
  if (by === "label" && model.codes) {
    const colours = model.facts.classes.map((_, k) => rgb(classColour(k)));
    for (let i = 0; i < model.n; i++) paint(i, colours[model.codes[i]]);
    return { rgba, legend: { kind: "classes", names: model.facts.classes } };
  }
  if (by === "new") {
    for (let i = 0; i < model.n; i++) paint(i, rgb(FLAGS[0]));
    for (const i of flagged) paint(i, rgb(FLAGS[1]));
    return { rgba, legend: { kind: "classes", names: ["usual", "called new"], colours: FLAGS } };
  }
  const { name: title, values: kinds, of, kind } = column === null ? {} : columnsOf(model)[column];
  if (kinds && kinds.length <= CLASSES.length && model.rows) {
    const colours = new Map(kinds.map((kind, k) => [kind, rgb(classColour(k))]));
    for (let i = 0; i < model.n; i++) paint(i, colours.get(of(rowOf(model, i))));
    return { rgba, legend: { kind: "classes", title, names: kinds } };
  }
  const values = valuesFor(model, by, column);
  if (!values) {
    for (let i = 0; i < model.n; i++) paint(i, rgb(CLASSES[0]));
    return { rgba, legend: { kind: "plain" } };
  }
  const [low, high] = edges(values);
  const colour = (value) => scaleColour((value - low) / (high - low || 1));
  for (let i = 0; i < model.n; i++) {
    paint(i, Number.isFinite(values[i]) ? colour(values[i]) : rgb(FLAGS[0]));
  }
  const day = (time) => new Date(time).toISOString().slice(0, 10);
  const ends = kind === "date" ? { low: day(low), high: day(high) } : { low, high };
  const word = title ?? wordsFor(model)[by];
  return { rgba, legend: { kind: "scale", title: word, ...ends } };
}

function valuesFor(model, by, column) {
  if (by === "label") return model.values;
  if (by === "error") return model.error;
  if (by === "p") return model.pValues;
  if (column === null || !model.rows) return null;
  const { of, values } = columnsOf(model)[column];
  const number = values
    ? (value) => values.indexOf(value)
    : (value) => (typeof value === "number" ? value : Date.parse(value));
  return Float64Array.from({ length: model.n }, (_, i) => number(of(rowOf(model, i))));
}

/** All but the outermost hundredths: one stray value must not swallow the colours. */
function edges(values) {
  const some = Float64Array.from(values).filter(Number.isFinite).sort();
  const at = (share) => some[Math.round(share * (some.length - 1))];
  return [at(0.01), at(0.99)];
}
