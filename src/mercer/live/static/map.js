// The map: points that can be panned, zoomed, hovered, lassoed, and a probe that can be dragged.

import { cssColour, h } from "./dom.js";
import { followHand } from "./gestures.js";
import { drawOverlay } from "./overlay.js";
import { makeScatter } from "./scatter.js";

/**
 * @param label what a screen reader says
 * @param on { hover(i), pick(i), lasso(indices), probe(place, done), key(event) }
 */
export function makeMap(label, on = {}, canvas = null) {
  const below = h("canvas", { class: "ml-points" });
  const above = h("canvas", {
    class: "ml-overlay",
    tabIndex: 0,
    role: "application",
    "aria-label": label,
  });
  const element = h("div", { class: "ml-map" }, below, above);
  const scatter = makeScatter(below, canvas);
  const map = {
    element,
    canvas: above,
    on,
    kind: scatter.kind,
    mode: "pan",
    moved: false, // has a hand panned or zoomed?
    view: { cx: 0, cy: 0, scale: 1, ratio: 1 },
    width: 0,
    height: 0,
    axes: { x: "", y: "" },
    probe: null,
    hovered: null,
    path: null, // places of a walk
    arrows: [], // variables, from the probe or the chosen row
    field: null, // a component over the input plane
    lasso: null, // corners, in pixels
    points: new Float32Array(0),
    setPoints,
    setColours,
    fit,
    draw,
    near,
    insideLasso,
    zoomAt,
    toPixels: (x, y) => [
      map.width / 2 + (x - map.view.cx) * map.view.scale,
      map.height / 2 - (y - map.view.cy) * map.view.scale,
    ],
    toPlace: (px, py) => [
      map.view.cx + (px - map.width / 2) / map.view.scale,
      map.view.cy - (py - map.height / 2) / map.view.scale,
    ],
    picture,
  };
  let grid = null;
  let colours = null;
  let chosen = null;
  let waiting = false;
  let framed = false;
  let stale = true;
  let drawn = "";

  new ResizeObserver(resize).observe(element);
  followHand(map);
  return map;

  function setPoints(xy, keepView = false) {
    map.points = xy;
    grid = null;
    scatter.setPoints(xy);
    stale = true;
    if (!keepView || !framed || !map.moved) fit();
    draw();
  }

  /** @param rows which points stand out; the others are faded. Null for all alike. */
  function setColours(rgba, rows = chosen) {
    [colours, chosen] = [rgba, rows];
    let shown = rgba;
    if (rows) {
      shown = Uint8Array.from(rgba);
      for (let i = 3; i < shown.length; i += 4) shown[i] = 45;
      for (const i of rows) shown[4 * i + 3] = 255;
    }
    scatter.setColours(shown);
    stale = true;
    draw();
  }

  function resize() {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) return;
    const ratio = globalThis.devicePixelRatio || 1;
    [map.width, map.height, map.view.ratio] = [box.width, box.height, ratio];
    for (const canvas of [below, above]) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    stale = true; // a canvas that is measured again is empty
    // A view that nobody has moved shows all points at any size.
    if (!framed || !map.moved) fit();
    paint();
  }

  /** Show all points, with a margin. */
  function fit() {
    if (!map.width || !map.points.length) return;
    const edge = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < map.points.length; i += 2) {
      edge[0] = Math.min(edge[0], map.points[i]);
      edge[1] = Math.max(edge[1], map.points[i]);
      edge[2] = Math.min(edge[2], map.points[i + 1]);
      edge[3] = Math.max(edge[3], map.points[i + 1]);
    }
    const spans = [edge[1] - edge[0] || 1, edge[3] - edge[2] || 1];
    // More room above than below: the tools stand there.
    const scale = Math.min((map.width - 76) / spans[0], (map.height - 104) / spans[1]);
    map.view.scale = scale;
    map.view.cx = (edge[0] + edge[1]) / 2 - 6 / scale;
    map.view.cy = (edge[2] + edge[3]) / 2 + 10 / scale;
    [framed, map.moved] = [true, false];
    draw();
  }

  function zoomAt(px, py, factor) {
    map.moved = true;
    const [x, y] = map.toPlace(px, py);
    map.view.scale *= factor;
    map.view.cx = x - (px - map.width / 2) / map.view.scale;
    map.view.cy = y + (py - map.height / 2) / map.view.scale;
    draw();
  }

  /** Draw once, before the next picture of the screen. */
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  }

  function paint() {
    if (!map.width) return;
    const n = map.points.length / 2;
    // A probe or a lasso that moves lies over the points, and leaves them as they are.
    const view = `${map.view.cx} ${map.view.cy} ${map.view.scale} ${below.width} ${below.height}`;
    if (stale || view !== drawn) scatter.draw(map.view, sizeOf(n), 0.9);
    [stale, drawn] = [false, view];
    drawOverlay(map, above.getContext("2d"));
    map.painted = performance.now();
    if (n) map.firstPainted ??= map.painted; // since the page was opened
    map.on.painted?.();
  }

  /** The nearest point within a few pixels, or null. */
  function near(px, py, reach = 14) {
    grid ??= makeGrid(map.points);
    const [x, y] = map.toPlace(px, py);
    return grid(x, y, reach / map.view.scale);
  }

  function insideLasso() {
    const corners = map.lasso.map(([px, py]) => map.toPlace(px, py));
    const found = [];
    for (let i = 0; i < map.points.length / 2; i++) {
      if (contains(corners, map.points[2 * i], map.points[2 * i + 1])) found.push(i);
    }
    return found;
  }

  /** The map as one picture, on paper. */
  function picture() {
    stale = true; // the card forgets a picture once it is on the screen
    paint();
    const whole = h("canvas", { width: below.width, height: below.height });
    const context = whole.getContext("2d");
    context.fillStyle = cssColour(element, "--ml-paper");
    context.fillRect(0, 0, whole.width, whole.height);
    context.drawImage(below, 0, 0);
    context.drawImage(above, 0, 0);
    return new Promise((resolve) => whole.toBlob(resolve, "image/png"));
  }
}

function sizeOf(n) {
  if (n <= 300) return 10;
  return n <= 3000 ? 7 : 5;
}

/** Points in square cells: (x, y, reach) → number of the nearest one, or null. */
function makeGrid(points) {
  const n = points.length / 2;
  const edge = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < n; i++) {
    edge[0] = Math.min(edge[0], points[2 * i]);
    edge[1] = Math.max(edge[1], points[2 * i]);
    edge[2] = Math.min(edge[2], points[2 * i + 1]);
    edge[3] = Math.max(edge[3], points[2 * i + 1]);
  }
  const side = Math.max(edge[1] - edge[0], edge[3] - edge[2]) / Math.ceil(Math.sqrt(n)) || 1;
  const cells = new Map();
  const column = (x) => Math.floor((x - edge[0]) / side);
  const line = (y) => Math.floor((y - edge[2]) / side);
  for (let i = 0; i < n; i++) {
    const key = column(points[2 * i]) * 65536 + line(points[2 * i + 1]);
    if (cells.has(key)) cells.get(key).push(i);
    else cells.set(key, [i]);
  }
  return (x, y, reach) => {
    let best = null;
    let least = reach * reach;
    for (let a = Math.max(column(x - reach), 0); a <= Math.min(column(x + reach), 65535); a++) {
      for (let b = Math.max(line(y - reach), 0); b <= Math.min(line(y + reach), 65535); b++) {
        for (const i of cells.get(a * 65536 + b) ?? []) {
          const r = (points[2 * i] - x) ** 2 + (points[2 * i + 1] - y) ** 2;
          if (r < least) [least, best] = [r, i];
        }
      }
    }
    return best;
  };
}

/** Whether a polygon contains a place: an odd number of edges to the right of it. */
function contains(corners, x, y) {
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const [[xi, yi], [xj, yj]] = [corners[i], corners[j]];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
