// The map panel: which plane, which colours, and what is selected.

import { columnsOf, textOf } from "./columns.js";
import { button, choice, download, h } from "./dom.js";
import { labelOf, rowNumber, rowOf } from "./model.js";
import { classColour, css, scaleColour } from "./palette.js";
import { scores } from "./subspace.js";

export function mapPanel(app) {
  const { model, state } = app;
  const { facts } = model;
  const listed = h("div", { class: "ml-selection" });
  const element = h("div", {});
  app.fieldOf = (current) => fieldOf(current, state.x);
  app.on("selection", list);
  app.on("model", () => state.tab === "map" && build());
  return {
    id: "map",
    title: "Map",
    element,
    enter() {
      build();
    },
  };

  function build() {
    const components = Array.from({ length: app.current.scores.q }, (_, a) => [
      a,
      `component ${a}`,
    ]);
    const planes = [
      ["components", "two components"],
      ...(model.d === 2 && app.current.rows ? [["input", "the input plane"]] : []),
    ];
    const set = (name) => (value) => {
      state[name] = Number(value);
      app.refresh();
    };
    element.replaceChildren(
      h(
        "p",
        { class: "ml-lead" },
        "Every dot is a row. Point at one, choose it, or draw round several.",
      ),
      planes.length > 1
        ? choice("Plane", planes, state.space, (value) => {
            state.space = value;
            app.refresh();
          }).element
        : "",
      h(
        "div",
        { class: "ml-two" },
        choice("Across", components, state.x, set("x")).element,
        choice("Up", components, state.y, set("y")).element,
      ),
      choice("Colour", colourings(), state.colour, (value) => {
        state.colour = value;
        app.recolour();
      }).element,
      listed,
    );
    list();
  }

  function colourings() {
    const columns =
      app.current.rows && !facts.imageShape
        ? columnsOf(model)
            .slice(0, 40)
            .map(({ name }, j) => [`column:${j}`, name])
        : [];
    const label = model.codes
      ? [["label", "class"]]
      : model.values
        ? [["label", "value"]]
        : [["plain", "none"]];
    return [
      ...label,
      ["error", "reconstruction error"],
      ["p", facts.novelty.heldOut ? "p-value" : "rank by error"],
      ...columns,
    ];
  }

  function list() {
    const rows = state.selection;
    if (!rows) {
      listed.replaceChildren(
        h("p", { class: "ml-sub" }, "Shift and drag, or press Lasso, to select rows."),
      );
      return;
    }
    listed.replaceChildren(
      h("h3", {}, `${rows.length.toLocaleString("en")} rows selected`),
      h(
        "ul",
        {},
        rows.slice(0, 60).map((i) =>
          h(
            "li",
            {},
            button(
              `${rowNumber(app.current, i)} ${labelOf(app.current, i)}`,
              () => app.choose(i),
              { class: "ml-button ml-chip" },
            ),
          ),
        ),
      ),
      rows.length > 60
        ? h(
            "p",
            { class: "ml-sub" },
            `and ${(rows.length - 60).toLocaleString("en")} more, in the CSV`,
          )
        : "",
      h(
        "div",
        { class: "ml-row" },
        button("CSV of these", () =>
          download("selection.csv", new Blob([csvOf(app.current, rows)], { type: "text/csv" })),
        ),
        button("Clear", () => app.select(null)),
      ),
    );
  }
}

/** What the colours mean. */
export function legendOf(meaning) {
  if (meaning.kind === "classes") {
    return meaning.names.map((name, k) => {
      const dot = h("i", {});
      dot.style.background = meaning.colours?.[k] ?? classColour(k);
      return h("span", {}, dot, name);
    });
  }
  if (meaning.kind === "plain") return [];
  const bar = h("b", { class: "ml-ramp" });
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => css(scaleColour(share)));
  bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  return [h("span", {}, textOf(meaning.low), bar, textOf(meaning.high))];
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

/** A component over the input plane. */
function fieldOf(current, component) {
  const side = current.P.m > 1500 ? 33 : 49;
  const { data, m } = current.rows;
  const [low, high] = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ];
  for (let i = 0; i < m; i++) {
    for (const j of [0, 1]) {
      low[j] = Math.min(low[j], data[2 * i + j]);
      high[j] = Math.max(high[j], data[2 * i + j]);
    }
  }
  for (const j of [0, 1]) {
    const margin = 0.15 * (high[j] - low[j]);
    [low[j], high[j]] = [low[j] - margin, high[j] + margin];
  }
  const values = new Float64Array(side * side);
  for (let i = 0; i < side; i++) {
    for (let j = 0; j < side; j++) {
      const x = Float64Array.of(
        low[0] + ((high[0] - low[0]) * i) / (side - 1),
        low[1] + ((high[1] - low[1]) * j) / (side - 1),
      );
      values[i * side + j] = scores(current.P, x)[component];
    }
  }
  return { values, side, low, high };
}
