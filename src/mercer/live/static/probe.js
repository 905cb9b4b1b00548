// The probe: scores that a hand holds, and their pre-image.

import { rowOf, scoreAt } from "./model.js";
import { preimage } from "./preimage.js";
import { scores } from "./subspace.js";

/** Scores to look at; their pre-image follows before the next picture of the screen. */
export function setProbe(app, z) {
  app.state.probe = z;
  showProbe(app);
  if (app.probing) return; // the latest value wins
  app.probing = true;
  requestAnimationFrame(() => {
    app.probing = false;
    const started = performance.now();
    const found = preimage(app.current.P, app.state.probe);
    app.point = found.point;
    app.lastPreimage = { ...found, milliseconds: performance.now() - started };
    showProbe(app);
    app.emit("probe", found.point);
    app.keep();
  });
}

/** The hand has dragged the probe to a place of the map. */
export function moveProbe(app, at) {
  const { state, current } = app;
  if (state.space === "input") return setProbe(app, scores(current.P, Float64Array.from(at)));
  const z = Float64Array.from(state.probe);
  [z[state.x], z[state.y]] = at;
  return setProbe(app, z);
}

/** Where the probe stands in the plane that is shown. */
export function showProbe({ state, map, point }) {
  if (!state.probe || state.tab !== "drag") map.probe = null;
  else if (state.space === "input" && point) map.probe = [point[0], point[1]];
  else map.probe = [state.probe[state.x], state.probe[state.y]];
  map.draw();
}

/** All scores of a row; from the row itself where the file holds only the leading ones. */
export function placeOfRow({ current }, i) {
  const { q } = current.P;
  const known = current.scores;
  if (known.q === q) return Float64Array.from(known.data.subarray(i * q, (i + 1) * q));
  const x = rowOf(current, i);
  if (x) return scores(current.P, x);
  return Float64Array.from({ length: q }, (_, a) => (a < known.q ? scoreAt(current, i, a) : 0));
}
