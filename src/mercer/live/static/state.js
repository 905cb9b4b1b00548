// The state of the view in the URL's fragment: a link shows what its sender saw.

const WORDS = /^[\w:.-]{1,40}$/;

export function writeState(app) {
  const { state, current } = app;
  const parts = new URLSearchParams();
  parts.set("tab", state.tab);
  parts.set("plane", state.space === "input" ? "input" : `${state.x},${state.y}`);
  parts.set("colour", state.colour);
  if (state.chosen !== null)
    parts.set("row", (current.index ? current.index[state.chosen] : state.chosen) + 1);
  if (state.probe)
    parts.set("z", Array.from(state.probe, (v) => Number(v.toPrecision(5))).join(","));
  if (state.fit)
    parts.set(
      "fit",
      [state.fit.name, state.fit.width.toPrecision(5), state.fit.q, state.fit.center ? 1 : 0].join(
        ",",
      ),
    );
  if (state.used) parts.set("used", 1);
  const text = `#${parts.toString().replaceAll("%2C", ",").replaceAll("%3A", ":")}`;
  if (text === globalThis.location.hash || text === app.lastHash) return;
  app.lastHash = text;
  clearTimeout(app.hashTimer);
  // Browsers allow a hundred changes in half a minute; a drag makes more.
  app.hashTimer = setTimeout(() => {
    try {
      history.replaceState(null, "", text);
    } catch {
      // a page without an address of its own, such as a frame
    }
  }, 300);
}

/** What the fragment says, as far as it makes sense for this model. */
export function readState(app) {
  const { state, current } = app;
  const parts = new URLSearchParams(globalThis.location.hash.slice(1));
  const tab = parts.get("tab");
  if (tab && WORDS.test(tab)) state.tab = tab;
  const plane = parts.get("plane");
  if (plane === "input" && current.d === 2) state.space = "input";
  const [x, y] = (plane ?? "").split(",").map((text) => (text === "" ? NaN : Number(text)));
  const known = (a) => Number.isInteger(a) && a >= 0 && a < current.scores.q;
  if (known(x) && known(y)) [state.x, state.y] = [x, y];
  const colour = parts.get("colour");
  if (colour && WORDS.test(colour)) state.colour = colour;
  const row = Number(parts.get("row")) - 1;
  if (Number.isInteger(row) && row >= 0 && row < current.n) state.chosen = row;
  const z = (parts.get("z") ?? "").split(",").map(Number);
  if (z.length === current.P.q && z.every(Number.isFinite)) state.probe = Float64Array.from(z);
  const fit = (parts.get("fit") ?? "").split(",");
  if (fit.length === 4) {
    const [name, width, q, center] = fit;
    if (WORDS.test(name) && Number(width) > 0 && Number(q) >= 1) {
      state.fit = {
        name,
        width: Number(width),
        q: Math.min(Math.round(Number(q)), 400),
        center: center === "1",
      };
      state.used = parts.get("used") === "1";
    }
  }
}
