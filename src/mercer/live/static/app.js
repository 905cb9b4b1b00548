// The page: a map in the middle, controls on one side, an inspector on the other.
//
// mount(element, model, options, backend?) is the seam to whoever holds the model:
//   model    { facts, arrays } as numbers.js gives them
//   options  worker: () → Worker, running worker.js
//            fragment: keep the state in the URL
//            onSelect(rows): told of every selection, as row numbers from 0, or null
//            panels: more panels, app → { id, title, element, centre?, enter?, leave? }
//            canvas: "webgl2" or "plain" points, where the page should not choose
//   backend  optional, for what a page cannot do; a button appears for each that is there:
//            fit(request, progress) → Promise<{ facts, arrays }>: all rows, exactly
//            save() → Promise<Blob>: a .mercer file
// It returns { app, engine, setModel(model), select(rows), destroy() }.

import { choose, recolour, refresh, select, steer } from "./actions.js";
import { makeClient } from "./client.js";
import { h } from "./dom.js";
import { strangest } from "./explain.js";
import { engine } from "./engine.js";
import { makeBadge, makeHeader, makeTabs, makeTools, makeTrialMark } from "./frame.js";
import { makeInspector } from "./inspector.js";
import { makeMap } from "./map.js";
import { makeModel, sameRows } from "./model.js";
import { firstColouring } from "./palette.js";
import { comparePanel } from "./panel_compare.js";
import { denoisePanel } from "./panel_denoise.js";
import { dragPanel } from "./panel_drag.js";
import { knobsPanel } from "./panel_knobs.js";
import { mapPanel } from "./panel_map.js";
import { noveltyPanel } from "./panel_novelty.js";
import { tablePanel } from "./panel_table.js";
import { takePanel } from "./panel_take.js";
import { moveProbe, placeOfRow, setProbe, showProbe } from "./probe.js";
import { MANY } from "./scatter.js";
import { readState, writeState } from "./state.js";

const PANELS = [mapPanel, dragPanel, knobsPanel, denoisePanel, noveltyPanel, comparePanel];
const LAST = [tablePanel, takePanel];
const MAP_LABEL = "Map of the rows. Arrow keys move the probe, plus and minus zoom, 0 shows all.";

export function mount(element, model, options = {}, backend = null) {
  const handle = {
    engine,
    select: (rows) => handle.app.select(rows),
    /** Another model in the same place; everything begins anew. */
    setModel(next) {
      handle.destroy();
      handle.app = begin(element, next, options, backend);
      handle.app.replace = handle.setModel;
      return handle;
    },
    destroy() {
      handle.app?.worker?.close();
      handle.app?.root.parentElement?.remove();
    },
  };
  return handle.setModel(model);
}

function begin(element, { facts, arrays }, options, backend) {
  const app = makeApp(makeModel(facts, arrays), options, backend);
  if (options.fragment) readState(app);
  build(app);
  element.replaceChildren(h("div", { class: "ml-box" }, app.root));
  app.map.chosen = app.state.chosen;
  app.refresh();
  app.show(app.state.tab);
  app.emit("chosen", app.state.chosen);
  if (app.state.probe) app.setProbe(app.state.probe);
  if (app.state.used) app.adoptTrial();
  return app;
}

/** What all panels share: the model, the state, and what can be done to them. */
function makeApp(model, options, backend) {
  const listeners = new Map();
  const app = {
    model, // of the file
    adopted: model, // the same, or a fit of the page that the reader uses
    current: model, // the adopted one; in the knobs panel a trial
    options,
    backend,
    root: h("div", { class: "ml" }),
    map: makeMap(MAP_LABEL, {}, model.n > MANY ? "density" : options.canvas),
    state: {
      tab: "map",
      space: "components",
      x: 0,
      y: Math.min(1, model.scores.q - 1),
      colour: firstColouring(model),
      probe: null, // scores that are looked at
      chosen: strangest(model), // a row
      selection: null, // rows
      found: null, // rows, by the search of the table
      walk: [null, null], // rows
      fit: null, // knobs of a trial, or of the fit that is used
      used: false,
    },
    on: (name, act) => listeners.set(name, [...(listeners.get(name) ?? []), act]),
    emit: (name, ...values) => (listeners.get(name) ?? []).forEach((act) => act(...values)),
    client: () => (app.worker ??= makeClient(options.worker)),
    keep: () => options.fragment && writeState(app),
    refresh: (keepView) => refresh(app, keepView),
    recolour: () => recolour(app),
    choose: (i) => choose(app, i),
    select: (rows) => select(app, rows),
    setProbe: (z) => setProbe(app, z),
    place: (i) => placeOfRow(app, i),
    use: (next) => use(app, next),
    adopt: (next) => adopt(app, next),
  };
  if (options.onSelect) app.on("selection", options.onSelect);
  return app;
}

function build(app) {
  const { map, root } = app;
  const said = h("div", { class: "ml-said", role: "status", "aria-live": "polite" });
  app.say = (text) => (said.textContent = text);
  app.legend = h("div", { class: "ml-legend" });
  app.badge = makeBadge(app);
  const inspector = makeInspector(app);
  const panels = [...PANELS, ...(app.options.panels ?? []), ...LAST].map((make) => make(app));
  const centre = h("div", { class: "ml-centre" });
  const side = h("div", { class: "ml-side", role: "tabpanel", id: "ml-panel" });
  const tabs = makeTabs(app, panels);
  const canvas = h("div", { class: "ml-canvas" }, map.element, makeTools(map), makeTrialMark(app));
  const mapBox = h("div", { class: "ml-mapbox" }, canvas, app.legend);
  app.show = (id) => show(app, panels, id, { tabs, side, centre, mapBox });
  const body = h("div", { class: "ml-body" }, side, centre, inspector.element);
  root.append(makeHeader(app), app.badge, tabs.element, body, said);
  map.on = {
    hover: (i) => app.emit("hover", i),
    pick: (i, at) => pick(app, i, at),
    lasso: (rows) => select(app, rows.length ? rows : null),
    probe: (at) => moveProbe(app, at),
    key: (event) => steer(app, event),
  };
}

/** Show a panel, and what belongs into the middle with it. */
function show(app, panels, id, { tabs, side, centre, mapBox }) {
  const panel = panels.find((one) => one.id === id) ?? panels[0];
  panels.find((one) => one.id === app.state.tab && one !== panel)?.leave?.();
  app.state.tab = panel.id;
  tabs.mark(panel);
  side.setAttribute("aria-labelledby", `ml-tab-${panel.id}`);
  side.replaceChildren(panel.element);
  centre.replaceChildren(...(panel.centre ? [panel.centre] : [mapBox, panel.below ?? ""]));
  app.root.dataset.tab = panel.id;
  showProbe(app);
  panel.enter?.();
  app.emit("hover", null); // the probe is of one tab, the chosen row of all
  app.refresh(true);
}

/** Every panel works with this fit from now on, or with the model of the file again. */
function adopt(app, next) {
  next.left = app.adopted.left; // both count all rows
  app.adopted = next;
  app.state.fit = next.fitted;
  app.state.used = Boolean(next.fitted);
  use(app, next);
}

/** Show another model: a trial, or the adopted one again. */
function use(app, next) {
  const { state, map } = app;
  Object.assign(state, carried(app.current, next, state));
  [app.current, map.hovered, map.chosen] = [next, null, state.chosen];
  state.x = Math.min(state.x, next.scores.q - 1);
  state.y = Math.min(state.y, next.scores.q - 1);
  if (state.probe && state.probe.length !== next.P.q) {
    state.probe = Float64Array.from({ length: next.P.q }, (_, a) => state.probe[a] ?? 0);
  }
  app.refresh(true);
  app.emit("model");
  if (state.probe) app.setProbe(state.probe);
}

/** The chosen row and the selection, in the count of another model; what that lacks comes back. */
function carried(from, to, { chosen, selection }) {
  const { before, now } = to.left ?? {};
  const unchanged = now && now.chosen === chosen && now.selection === selection;
  const next = unchanged
    ? before
    : {
        chosen: sameRows(from, to, chosen === null ? null : [chosen])?.[0] ?? null,
        selection: sameRows(from, to, selection),
      };
  from.left = { before: { chosen, selection }, now: next };
  return next;
}

function pick(app, i, at) {
  if (i === null && app.state.tab === "drag") moveProbe(app, at);
  else app.choose(i);
}
