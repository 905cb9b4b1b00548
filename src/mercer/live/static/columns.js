// Columns as the owner of the table knows them: numbers in their units, categories by their names.

import { formatNumber } from "./model.js";

/**
 * The columns of the table that the model's vectors were made of; of plain rows their variables.
 * @returns [{ name, at, width, values: names of a category | null, of: (shifted point) => value }]
 */
export function columnsOf(model) {
  const { names, origin, columns } = model.facts;
  const plain = (name, at) => ({ name, at, width: 1, values: null, of: (x) => x[at] + origin[at] });
  if (!columns) return names.map(plain);
  return columns.map((column) => ({
    ...column,
    values: column.values ?? null,
    of: (x) => decode(column, (k) => x[column.at + k] + origin[column.at + k]),
  }));
}

function decode(column, entry) {
  if (column.kind === "category") return column.values[strongest(column, entry)];
  const number = numberOf(column, entry(0));
  if (column.kind === "number") return number;
  const when = new Date(column.origin + Math.round(number) * column.unit);
  if (Number.isNaN(when.getTime())) return "";
  return column.day ? when.toISOString().slice(0, 10) : when.toISOString().slice(0, 19);
}

/** The slot of a category that is filled most. */
function strongest(column, entry) {
  let best = 0;
  for (let k = 1; k < column.width; k++) if (entry(k) > entry(best)) best = k;
  return best;
}

/** As Number.decode of mercer.tables: back to the unit, rounded, and inside what the data show. */
function numberOf({ center, scale, gain, tails, whole, low, high, levels }, entry) {
  const u = entry / gain;
  const value = center + scale * (tails ? Math.sinh(Math.min(Math.max(u, -500), 500)) : u);
  if (levels.length)
    return levels.reduce((a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a));
  const rounded = whole ? Math.round(value) : value;
  return Math.min(Math.max(rounded, low ?? -Infinity), high ?? Infinity);
}

/** What the page calls the numbers that it adds to a row. */
export function wordsFor({ facts }) {
  return {
    error: "reconstruction error",
    p: facts.novelty.heldOut ? "p-value" : "rows as strange",
    /** A p-value, or the share of rows that are as strange. */
    show: (p) => (facts.novelty.heldOut ? formatNumber(p) : `${formatNumber(100 * p)} %`),
  };
}

/** A value as text: numbers in short. */
export function textOf(value) {
  return typeof value === "number" ? formatNumber(value) : value;
}
