// Compare: the model of the file, or a pinned fit, beside another fit; one selection for both.

import { button, choice, h, slider } from "./dom.js";
import { makeMap } from "./map.js";
import { fittedModel, formatNumber, scoreAt, someOf } from "./model.js";
import { colourPoints } from "./palette.js";
import { widened } from "./panel_knobs.js";
import { latest } from "./client.js";

export function comparePanel(app) {
  const { model, state } = app;
  const maps = ["Left map", "Right map"].map((label) => makeMap(label, {}, app.options.canvas));
  const heads = [h("h3", {}), h("h3", {})];
  const centre = h(
    "div",
    { class: "ml-pair" },
    maps.map((map, k) =>
      h(
        "section",
        {},
        heads[k],
        h("div", { class: "ml-mapbox" }, h("div", { class: "ml-canvas" }, map.element)),
      ),
    ),
  );
  const figures = h("dl", { class: "ml-facts" });
  const element = h("div", {});
  const right = { how: "width", width: 0.5, landmarks: 60 };
  let of = null; // the model on the left
  let sides = [null, null];
  const run = latest(fit);

  if (model.rows && model.facts.median) build();
  else
    element.append(
      h("p", { class: "ml-lead" }, "The file contains no rows to fit a second model to."),
    );
  maps.forEach((map, k) => {
    map.on = {
      hover: (i) => mark(k, i),
      lasso: (rows) => choose(rows.length ? rows : null),
      pick: (i) => choose(i === null ? null : [i]),
    };
  });
  return {
    id: "compare",
    title: "Compare",
    element,
    centre,
    enter: () => model.rows && model.facts.median && enter(),
  };

  function enter() {
    if (of !== app.adopted) [of, sides] = [app.adopted, [null, null]];
    run();
  }

  function build() {
    const width = slider("Width", {
      min: -4,
      max: 4,
      step: 0.05,
      value: Math.log2(right.width),
      mark: { at: 0, text: "median" },
      show: (v) => `${formatNumber(2 ** v)} × median`,
      oninput: (v) => {
        right.width = 2 ** v;
        run();
      },
    });
    const landmarks = slider("Landmarks", {
      min: 5,
      max: Math.min(200, app.fitRows.m),
      step: 5,
      value: right.landmarks,
      oninput: (m) => {
        right.landmarks = m;
        run();
      },
    });
    const arrange = () => {
      width.element.hidden = right.how === "landmarks";
      landmarks.element.hidden = right.how !== "landmarks";
    };
    const how = choice(
      "On the right",
      [
        ["width", "another width"],
        ["linear", "linear PCA"],
        ["landmarks", "landmarks, the model's width"],
      ],
      right.how,
      (value) => {
        right.how = value;
        arrange();
        width.element.hidden ||= value === "linear";
        run();
      },
    );
    arrange();
    element.append(
      h(
        "p",
        { class: "ml-lead" },
        `The model and another fit, of ${app.fitRows.m} rows. Draw around points on one map to see where they are on the other.`,
      ),
      how.element,
      width.element,
      landmarks.element,
      h(
        "div",
        { class: "ml-row" },
        button("Use the right-hand fit", () => {
          sides[0] = sides[1];
          show();
        }),
        button("Clear selection", () => choose(null)),
      ),
      h("h3", {}, "How alike"),
      figures,
    );
  }

  async function fit() {
    const rows = app.fitRows;
    const own = of.P.spec;
    const q = Math.min(of.scores.q, 10);
    const center = of.fitted ? of.fitted.center : model.facts.centred;
    if (!sides[0]) {
      sides[0] = { model: someOf(of, rows), name: of.fitted ? "the fit in use" : "the model" };
      heads[1].textContent = "fitting …";
      show();
    }
    const { kernels, median } = model.facts;
    const radial = own.length ? own : kernels.gaussian;
    const kinds = {
      width: { kernel: widened(radial, right.width * median, model.d) },
      linear: { kernel: kernels.linear },
      landmarks: { kernel: own, landmarks: right.landmarks },
    };
    await app.fitterReady();
    const found = await app.client().ask({ fit: { q, center, ...kinds[right.how] } });
    const names = {
      width: `width ${formatNumber(right.width)} × median`,
      linear: "linear PCA",
      landmarks: `${right.landmarks} landmarks`,
    };
    sides[1] = { model: fittedModel(model, rows, found), name: names[right.how] };
    app.comparisons = (app.comparisons ?? 0) + 1;
    show();
  }

  function show() {
    sides.forEach((side, k) => {
      if (!side) return;
      const { model: one } = side;
      const [x, y] = [Math.min(state.x, one.scores.q - 1), Math.min(state.y, one.scores.q - 1)];
      heads[k].textContent = side.name;
      maps[k].axes = { x: `component ${x}`, y: `component ${y}` };
      maps[k].setPoints(
        Float32Array.from({ length: 2 * one.n }, (_, i) => scoreAt(one, i >> 1, i % 2 ? y : x)),
        false,
      );
    });
    choose(state.pairSelection ?? null);
    if (sides[0] && sides[1]) describe();
  }

  function choose(rows) {
    state.pairSelection = rows;
    sides.forEach(
      (side, k) => side && maps[k].setColours(colourPoints(side.model, state.colour).rgba, rows),
    );
    app.say(rows ? `${rows.length} rows selected in both maps` : "nothing selected");
  }

  /** The row under the cursor, in the other map, too. */
  function mark(k, i) {
    const other = maps[1 - k];
    other.hovered = i;
    other.draw();
  }

  function describe() {
    const [a, b] = sides.map((side) => side.model);
    const count = Math.min(a.scores.q, b.scores.q, 3);
    const lines = Array.from({ length: count }, (_, k) => [
      `component ${k}`,
      `correlation ${Math.abs(correlation(a, b, k)).toFixed(2)}`,
    ]);
    lines.push([
      "neighbours",
      `${(100 * keptNeighbours(a, b)).toFixed(0)} % of the ten nearest are the same`,
    ]);
    figures.replaceChildren(
      ...lines.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]),
    );
  }
}

function correlation(a, b, k) {
  const columns = [a, b].map((one) => Array.from({ length: one.n }, (_, i) => scoreAt(one, i, k)));
  const centred = columns.map((column) => {
    const mean = column.reduce((s, v) => s + v, 0) / column.length;
    return column.map((v) => v - mean);
  });
  const inner = (u, v) => u.reduce((s, value, i) => s + value * v[i], 0);
  return (
    inner(centred[0], centred[1]) /
    Math.sqrt(inner(centred[0], centred[0]) * inner(centred[1], centred[1]) || 1)
  );
}

/** The share of the ten nearest rows, by the scores that both have, that two models agree on. */
function keptNeighbours(a, b, count = 10) {
  const used = Math.min(a.scores.q, b.scores.q);
  const nearest = (one, i) => {
    const { data, q } = one.scores;
    const r2 = Array.from({ length: one.n }, (_, j) => {
      let sum = 0;
      for (let k = 0; k < used; k++) sum += (data[i * q + k] - data[j * q + k]) ** 2;
      return sum;
    });
    return [...r2.keys()]
      .filter((j) => j !== i)
      .sort((x, y) => r2[x] - r2[y])
      .slice(0, count);
  };
  let kept = 0;
  let all = 0;
  for (let i = 0; i < a.n; i += Math.max(1, Math.floor(a.n / 40))) {
    const there = new Set(nearest(b, i));
    for (const j of nearest(a, i)) kept += there.has(j) ? 1 : 0;
    all += Math.min(count, a.n - 1);
  }
  return kept / all;
}
