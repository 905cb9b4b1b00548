// The map panel: which plane, which colours, and what is selected.

import { columnsOf, textOf, wordsFor } from "./columns.js";
import { choice, h } from "./dom.js";
import { classColour, css, scaleColour } from "./palette.js";
import { selectionView } from "./selection.js";
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
    const share = (a) => app.current.shares?.[a];
    const components = Array.from({ length: app.current.scores.q }, (_, a) => [
      a,
      `component ${a}${share(a) === undefined ? "" : ` (${(100 * share(a)).toFixed(1)} %)`}`,
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
        "Every dot is a row. Point at one, click it, or draw around several.",
      ),
      planes.length > 1
        ? choice("Plane", planes, state.space, (value) => {
            state.space = value;
            app.refresh();
          }).element
        : "",
      choice("Across", components, state.x, set("x")).element,
      choice("Up", components, state.y, set("y")).element,
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
        : [["label", "none"]];
    return [
      ...label,
      ["error", wordsFor(app.current).error],
      ["p", wordsFor(app.current).p],
      ...columns,
    ];
  }

  function list() {
    listed.replaceChildren(
      ...(state.selection
        ? selectionView(app, state.selection)
        : [h("p", { class: "ml-sub" }, "Hold Shift and drag, or press Lasso, to compare rows with the rest.")]),
    );
  }
}

/** What the colours mean. */
export function legendOf(meaning) {
  if (meaning.kind === "plain") return [];
  const title = meaning.title ? [h("strong", {}, meaning.title)] : [];
  if (meaning.kind === "classes") {
    const entries = meaning.names.map((name, k) => {
      const dot = h("i", {});
      dot.style.background = meaning.colours?.[k] ?? classColour(k);
      return h("span", {}, dot, name);
    });
    return [...title, ...entries];
  }
  const bar = h("b", { class: "ml-ramp" });
  const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => css(scaleColour(share)));
  bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  return [...title, h("span", {}, textOf(meaning.low), bar, textOf(meaning.high))];
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
