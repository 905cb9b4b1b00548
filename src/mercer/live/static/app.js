// The page: a map in the middle, controls on one side, an inspector on the other.
//
// mount(element, model, options, backend?) is the seam to whoever holds the model:
//   model    { facts, arrays } as numbers.js gives them
//   options  { worker: () → Worker, fragment: keep the state in the URL, plainCanvas }
//   backend  optional, for what a page cannot do:
//     fit(request, progress) → Promise<{ facts, arrays }>    all rows, any estimator
//     save() → Promise<Blob>                                 a .mercer file
//     load(file) → Promise<{ facts, arrays }>                rows or a model of the reader's
// It returns { app, engine, setModel, select, onSelect, destroy }.

import { makeClient } from "./client.js";
import { button, cssColour, h } from "./dom.js";
import { engine } from "./engine.js";
import { makeInspector } from "./inspector.js";
import { makeMap } from "./map.js";
import { deviations, makeModel, rowNumber, rowOf, scoreAt } from "./model.js";
import { colourPoints } from "./palette.js";
import { preimage } from "./preimage.js";
import { scoreGradients, scores } from "./subspace.js";
import { comparePanel } from "./panel_compare.js";
import { denoisePanel } from "./panel_denoise.js";
import { dragPanel } from "./panel_drag.js";
import { knobsPanel } from "./panel_knobs.js";
import { legendOf, mapPanel } from "./panel_map.js";
import { noveltyPanel } from "./panel_novelty.js";
import { tablePanel } from "./panel_table.js";
import { takePanel } from "./panel_take.js";
import { readState, writeState } from "./state.js";

const PANELS = [mapPanel, dragPanel, knobsPanel, denoisePanel, noveltyPanel, comparePanel, tablePanel, takePanel];

export function mount(element, { facts, arrays }, options = {}, backend = null) {
  const model = makeModel(facts, arrays);
  const root = h("div", { class: "ml" });
  const map = makeMap("Map of the rows. Arrow keys move the probe, plus and minus zoom, 0 shows all.", {}, {
    forcePlain: options.plainCanvas,
  });
  const app = {
    root, map, model, options, backend,
    current: model,
    state: { tab: "map", space: "components", x: 0, y: Math.min(1, model.scores.q - 1), colour: "label", probe: null, chosen: null, selection: null, walk: [null, null] },
    listeners: new Map(),
    on: (name, act) => app.listeners.set(name, [...(app.listeners.get(name) ?? []), act]),
    emit: (name, ...values) => (app.listeners.get(name) ?? []).forEach((act) => act(...values)),
    client: () => (app.worker ??= makeClient(options.worker)),
    refresh, recolour, setProbe, choose, select, use, show, place, say,
  };
  let pending = false;

  const badge = h("p", { class: "ml-badge", hidden: true }, "You see a fit made in this page. ",
    button("Back to the model", () => {
      app.state.fit = null;
      use(model);
    }));
  const said = h("div", { class: "ml-said", role: "status", "aria-live": "polite" });
  const legend = h("div", { class: "ml-legend" });
  if (options.fragment) readState(app);
  const inspector = makeInspector(app);
  const panels = PANELS.map((make) => make(app));
  const centre = h("div", { class: "ml-centre" });
  const side = h("div", { class: "ml-side", role: "tabpanel", id: "ml-panel" });
  const tabs = panels.map((panel) => h("button", {
    type: "button", role: "tab", class: "ml-tab", id: `ml-tab-${panel.id}`, "aria-controls": "ml-panel",
    onclick: () => show(panel.id),
  }, panel.title));
  const tablist = h("div", { class: "ml-tabs", role: "tablist", "aria-label": "What to do", onkeydown: walkTabs }, tabs);
  const mapBox = h("div", { class: "ml-mapbox" }, h("div", { class: "ml-canvas" }, map.element, mapTools()), legend);
  root.append(header(), badge, tablist, h("div", { class: "ml-body" }, side, centre, inspector.element), said);
  element.replaceChildren(root);
  map.on = {
    hover: (i) => app.emit("hover", i),
    pick,
    lasso: (rows) => select(rows.length ? rows : null),
    probe: (at) => moveProbe(at),
    key: steer,
  };
  refresh();
  show(app.state.tab);
  if (app.state.probe) setProbe(app.state.probe);
  return {
    app,
    engine,
    setModel: (next) => use(makeModel(next.facts, next.arrays)),
    select,
    onSelect: (act) => app.on("selection", act),
    destroy: () => {
      app.worker?.close();
      root.remove();
    },
  };

  /** Show a panel, and what belongs into the middle with it. */
  function show(id) {
    const panel = panels.find((one) => one.id === id) ?? panels[0];
    panels.find((one) => one.id === app.state.tab && one !== panel)?.leave?.();
    app.state.tab = panel.id;
    tabs.forEach((tab, k) => {
      tab.setAttribute("aria-selected", panels[k] === panel);
      tab.tabIndex = panels[k] === panel ? 0 : -1;
    });
    side.setAttribute("aria-labelledby", `ml-tab-${panel.id}`);
    side.replaceChildren(panel.element);
    centre.replaceChildren(...(panel.centre ? [panel.centre] : [mapBox, panel.below ?? ""]));
    root.dataset.tab = panel.id;
    showArrows();
    placeProbe();
    panel.enter?.();
    keep();
  }

  function walkTabs(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = panels.findIndex((panel) => panel.id === app.state.tab);
    const next = (at + step + panels.length) % panels.length;
    show(panels[next].id);
    tabs[next].focus();
  }

  /** Work with another model: a fit of the page, or the one from the file again. */
  function use(next) {
    app.current = next;
    const { state } = app;
    [state.x, state.y] = [Math.min(state.x, next.scores.q - 1), Math.min(state.y, next.scores.q - 1)];
    [state.chosen, state.selection, map.hovered, map.chosen] = [null, null, null, null];
    if (state.probe && state.probe.length !== next.P.q) {
      state.probe = Float64Array.from({ length: next.P.q }, (_, a) => state.probe[a] ?? 0);
    }
    refresh(true);
    badge.hidden = !next.fitted;
    app.emit("model");
    if (state.probe) setProbe(state.probe);
  }

  /** The points of the chosen plane. */
  function refresh(keepView = false) {
    const { current, state } = app;
    const xy = new Float32Array(current.n * 2);
    const input = state.space === "input" && current.rows;
    for (let i = 0; i < current.n; i++) {
      xy[2 * i] = input ? current.rows.data[2 * i] : scoreAt(current, i, state.x);
      xy[2 * i + 1] = input ? current.rows.data[2 * i + 1] : scoreAt(current, i, state.y);
    }
    const share = (a) => (current.shares?.[a] === undefined ? "" : ` (${(100 * current.shares[a]).toFixed(1)} %)`);
    map.axes = input
      ? { x: facts.names[0], y: facts.names[1] }
      : { x: `component ${state.x + 1}${share(state.x)}`, y: `component ${state.y + 1}${share(state.y)}` };
    map.field = input ? app.fieldOf?.(current) : null;
    map.setPoints(xy, keepView);
    showArrows();
    placeProbe();
    recolour();
    keep();
  }

  function recolour() {
    const { rgba, legend: meaning } = colourPoints(app.current, app.state.colour, app.flagged);
    map.setColours(rgba, app.state.selection);
    legend.replaceChildren(...legendOf(meaning));
  }

  /** Where the probe stands in the plane that is shown. */
  function placeProbe() {
    const { state } = app;
    if (!state.probe || state.tab !== "drag") map.probe = null;
    else if (state.space === "input" && app.point) map.probe = [app.point[0], app.point[1]];
    else map.probe = [state.probe[state.x], state.probe[state.y]];
    map.draw();
  }

  /** Scores to look at; their pre-image follows before the next picture of the screen. */
  function setProbe(z) {
    app.state.probe = z;
    placeProbe();
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      const started = performance.now();
      const found = preimage(app.current.P, app.state.probe);
      app.point = found.point;
      app.lastPreimage = { ...found, milliseconds: performance.now() - started };
      placeProbe();
      app.emit("probe", found.point);
      keep();
    });
  }

  function moveProbe(at) {
    const { state, current } = app;
    if (state.space === "input") return setProbe(scores(current.P, Float64Array.from(at)));
    const z = Float64Array.from(state.probe);
    [z[state.x], z[state.y]] = at;
    setProbe(z);
  }

  function pick(i, at) {
    if (i !== null) choose(i);
    else if (app.state.tab === "drag") moveProbe(at);
    else choose(null);
  }

  /** A row to look at; in the drag panel the probe goes there. */
  function choose(i) {
    app.state.chosen = map.chosen = i;
    if (i !== null && app.state.tab === "drag") setProbe(place(i));
    showArrows();
    app.emit("chosen", i);
    map.draw();
    keep();
  }

  /** All scores of a row; from the row itself where the file holds only the leading ones. */
  function place(i) {
    const { current } = app;
    const { q } = current.P;
    if (current.scores.q === q) return Float64Array.from(current.scores.data.subarray(i * q, (i + 1) * q));
    const x = rowOf(current, i);
    if (x) return scores(current.P, x);
    return Float64Array.from({ length: q }, (_, a) => (a < current.scores.q ? scoreAt(current, i, a) : 0));
  }

  function showArrows() {
    const { chosen, tab } = app.state;
    map.arrows = chosen === null || tab === "drag" ? [] : arrowsAt(chosen);
  }

  /** The variables that would move a row most, one spread of each, as arrows of the map. */
  function arrowsAt(i) {
    const { current, state } = app;
    const x = rowOf(current, i);
    if (!x || facts.imageShape || state.space === "input" || current.d < 2) return [];
    const [gx, gy] = scoreGradients(current.P, x, [state.x, state.y]);
    const moves = facts.names.map((text, j) => {
      const s = current.spread.deviation[j];
      return { text, by: [gx[j] * s, gy[j] * s], size: Math.hypot(gx[j] * s, gy[j] * s) };
    }).sort((a, b) => b.size - a.size).slice(0, 4);
    const from = [map.points[2 * i], map.points[2 * i + 1]];
    const longest = moves[0].size || 1;
    return moves.filter((move) => move.size > 0.15 * longest)
      .map((move) => ({ from, text: move.text, by: move.by.map((v) => (70 * v) / longest) }));
  }

  /** @param rows which rows of the current model are selected; null for none */
  function select(rows) {
    app.state.selection = rows;
    recolour();
    app.emit("selection", rows && rows.map((i) => rowNumber(app.current, i)));
    say(rows ? `${rows.length} rows selected` : "nothing selected");
  }

  /** Arrow keys: the probe by a tenth of a deviation, or from row to row. */
  function steer(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return false;
    const { state, current } = app;
    if (state.tab === "drag" && state.probe) {
      const unit = deviations(current);
      const z = Float64Array.from(state.probe);
      z[state.x] += 0.1 * step[0] * unit[state.x];
      z[state.y] += 0.1 * step[1] * unit[state.y];
      setProbe(z);
    } else {
      choose(((state.chosen ?? -1) + (step[0] || -step[1]) + current.n) % current.n);
    }
    return true;
  }

  function keep() {
    if (options.fragment) writeState(app);
  }

  function say(text) {
    said.textContent = text;
  }

  function header() {
    const { P } = model;
    const words = `${facts.kernelText} · ${model.n.toLocaleString("en")} rows × ${model.d} · ${P.q} components on ${P.m.toLocaleString("en")} support points`;
    const theme = button("◐", () => {
      const dark = getComputedStyle(root).colorScheme === "dark" || cssColour(root, "--ml-dark") === "1";
      root.dataset.theme = dark ? "light" : "dark";
      refresh(true);
      app.emit("model");
      if (app.state.probe) setProbe(app.state.probe);
    }, { class: "ml-button ml-theme", title: "Light or dark", "aria-label": "Change between light and dark" });
    return h("header", { class: "ml-head" },
      h("div", {}, h("h1", {}, facts.title), h("p", {}, words), facts.notes.map((note) => h("p", { class: "ml-note" }, note))),
      theme);
  }

  function mapTools() {
    const lasso = button("Lasso", () => {
      map.mode = map.mode === "lasso" ? "pan" : "lasso";
      lasso.setAttribute("aria-pressed", map.mode === "lasso");
    }, { "aria-pressed": "false", title: "Draw round points to select them (or hold shift)" });
    return h("div", { class: "ml-tools" }, lasso,
      button("+", () => map.zoomAt(map.width / 2, map.height / 2, 1.3), { "aria-label": "zoom in" }),
      button("−", () => map.zoomAt(map.width / 2, map.height / 2, 1 / 1.3), { "aria-label": "zoom out" }),
      button("All", () => map.fit(), { title: "Show all points" }));
  }
}
