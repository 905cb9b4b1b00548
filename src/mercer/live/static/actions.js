// What a reader does to the map: another plane, other colours, a row, a selection, an arrow key.

import { arrowsAt } from "./arrows.js";
import { deviations, rowNumber, scoreAt } from "./model.js";
import { colourPoints } from "./palette.js";
import { legendOf } from "./panel_map.js";
import { showProbe } from "./probe.js";

/** The points of the chosen plane. */
export function refresh(app, keepView = false) {
  const { current, state, map } = app;
  const { names } = current.facts;
  const input = state.space === "input" && current.rows;
  const xy = new Float32Array(current.n * 2);
  for (let i = 0; i < current.n; i++) {
    xy[2 * i] = input ? current.rows.data[2 * i] : scoreAt(current, i, state.x);
    xy[2 * i + 1] = input ? current.rows.data[2 * i + 1] : scoreAt(current, i, state.y);
  }
  const share = (a) =>
    current.shares?.[a] === undefined ? "" : ` (${(100 * current.shares[a]).toFixed(1)} %)`;
  const name = (a) => `component ${a}${share(a)}`;
  map.axes = input ? { x: names[0], y: names[1] } : { x: name(state.x), y: name(state.y) };
  map.field = input ? app.fieldOf(current) : null;
  map.setPoints(xy, keepView);
  showArrows(app);
  showProbe(app);
  recolour(app);
  app.keep();
}

export function recolour(app) {
  const { rgba, legend } = colourPoints(app.current, app.state.colour, app.flagged);
  app.map.setColours(rgba, app.state.found ?? app.state.selection);
  app.legend.replaceChildren(...legendOf(legend));
}

/** A row to look at; in the drag panel the probe goes there. */
export function choose(app, i) {
  app.state.chosen = app.map.chosen = i;
  if (i !== null && app.state.tab === "drag") app.setProbe(app.place(i));
  showArrows(app);
  app.emit("chosen", i);
  app.map.draw();
  app.keep();
}

/** @param rows which rows of the current model are selected; null for none */
export function select(app, rows) {
  app.state.selection = rows;
  recolour(app);
  app.emit("selection", rows && rows.map((i) => rowNumber(app.current, i)));
  app.say(rows ? `${rows.length} rows selected` : "nothing selected");
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Arrow keys: the probe by a tenth of a deviation, or from row to row. */
export function steer(app, event) {
  const step = STEPS[event.key];
  if (!step) return false;
  const { state, current } = app;
  if (state.tab === "drag" && state.probe) {
    const unit = deviations(current);
    const z = Float64Array.from(state.probe);
    z[state.x] += 0.1 * step[0] * unit[state.x];
    z[state.y] += 0.1 * step[1] * unit[state.y];
    app.setProbe(z);
  } else {
    choose(app, ((state.chosen ?? -1) + (step[0] || -step[1]) + current.n) % current.n);
  }
  return true;
}

function showArrows(app) {
  const { chosen, tab } = app.state;
  app.map.arrows = chosen === null || tab === "drag" ? [] : arrowsAt(app, chosen);
}
