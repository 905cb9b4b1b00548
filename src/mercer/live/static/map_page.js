// A map that another tool has made: drag a point, and see the row that its place stands for.

import { columnsOf, textOf } from "./columns.js";
import { button, cssColour, drawing, h } from "./dom.js";
import { makeKernel, squaredDistance } from "./kernels.js";
import { formatNumber } from "./model.js";
import { pValue } from "./novelty.js";
import { unpack } from "./numbers.js";
import { classColour, css, scaleColour } from "./palette.js";
import { barList, isDark, paintImage } from "./pictures.js";

/** Cells of the grid that is looked at for places without data, along the longer side. */
const CELLS = 90;
/** Variables that are listed beside the map. */
const LISTED = 40;

export async function start() {
  const text = (id) => document.getElementById(id).textContent;
  const element = document.getElementById("mercer-live");
  try {
    const facts = JSON.parse(text("mercer-facts"));
    const arrays = await unpack(facts, text("mercer-numbers"));
    globalThis.mercerMap = mount(element, facts, arrays);
  } catch (problem) {
    element.textContent = `This page could not start: ${problem.message}. A current browser is needed.`;
    throw problem;
  }
}

/** The mathematics of mercer.MapModel: the way back, its radius, and whether there is data. */
export function makeWay(facts, arrays) {
  const table = ({ data, shape }) => ({ data, m: shape[0], d: shape[1] });
  const [centres, known, calibrated] = ["centres", "known", "calibrated"].map((k) => table(arrays[k]));
  const kernel = makeKernel(facts.kernel);
  const [k, d] = [new Float64Array(centres.m), facts.origin.length];
  const { data: weights } = arrays.weights;
  /** Squared distances and numbers of the nearest points, the nearest first. */
  const nearest = (z, S, count) => {
    const best = [];
    for (let i = 0; i < S.m; i++) {
      const r = squaredDistance(z, S.data, i * S.d, S.d);
      if (best.length === count && r >= best[count - 1][0]) continue;
      let at = best.length;
      while (at && best[at - 1][0] > r) at--;
      best.splice(at, 0, [r, i]);
      if (best.length > count) best.pop();
    }
    return best;
  };
  return {
    q: centres.d,
    known,
    nearest,
    /** x(z) without the mean. */
    row(z, out = new Float64Array(d)) {
      kernel.row(z, centres, k);
      out.fill(0);
      for (let i = 0; i < centres.m; i++) {
        const ki = k[i];
        if (Math.abs(ki) < 1e-12) continue;
        for (let j = 0, at = i * d; j < d; j++, at++) out[j] += ki * weights[at];
      }
      return out;
    },
    radius(z) {
      if (facts.radius === null) return Infinity;
      const near = nearest(z, calibrated, facts.errors);
      const sum = near.reduce((total, [, i]) => total + arrays.missed.data[i], facts.usual);
      return (facts.radius * sum) / (near.length + 1);
    },
    pValue(z) {
      const near = nearest(z, known, facts.empty);
      return pValue(arrays.apart.data, 0, Math.sqrt(near[near.length - 1][0]));
    },
  };
}

function mount(element, facts, arrays) {
  const way = makeWay(facts, arrays);
  const places = { data: arrays.places.data, m: arrays.places.shape[0], d: way.q };
  const at = (i, k) => (k < way.q ? places.data[i * way.q + k] : 0);
  const box = [0, 1].map((k) => {
    let [low, high] = [Infinity, -Infinity];
    for (let i = 0; i < places.m; i++) [low, high] = [Math.min(low, at(i, k)), Math.max(high, at(i, k))];
    const pad = 0.06 * (high - low) || 1;
    return [low - pad, high + pad];
  });
  const state = { z: Array.from(places.data.subarray(0, way.q)), times: [] };
  const point = new Float64Array(facts.origin.length);
  const model = { facts };
  const columns = columnsOf(model);
  const image = facts.imageShape ? h("canvas", { class: "ml-image ml-mapimage", role: "img" }) : null;
  const bars = h("div", { class: "ml-bars" });
  const says = h("p", { class: "ml-says", "aria-live": "polite" });
  const empty = shadeOf(way, box);
  const map = drawing(draw, { class: "ml-mapcanvas", tabIndex: 0, role: "application" });
  map.canvas.setAttribute("aria-label", "The map; drag, or use the arrow keys, to move the point");

  function frame(width, height) {
    const unit = Math.min(width / (box[0][1] - box[0][0]), height / (box[1][1] - box[1][0]));
    const shift = [0, 1].map((k) => ([width, height][k] - unit * (box[k][1] - box[k][0])) / 2);
    return {
      unit,
      to: (u, v) => [shift[0] + unit * (u - box[0][0]), height - shift[1] - unit * (v - box[1][0])],
      from: (x, y) => [(x - shift[0]) / unit + box[0][0], (height - shift[1] - y) / unit + box[1][0]],
    };
  }

  let shade = null;
  /** The shaded regions, in one piece: layers of one pale colour would differ by their rounding. */
  function shadeFor(f, ...sides) {
    const [width, height] = sides.map(Math.ceil);
    if (shade?.width === width && shade.height === height) return shade;
    shade = h("canvas", { width, height });
    const layer = shade.getContext("2d");
    const [[left, bottom], [right, top]] = [f.to(box[0][0], box[1][0]), f.to(box[0][1], box[1][1])].map((p) => p.map(Math.round));
    const inside = [left, top, right - left, bottom - top];
    layer.fillStyle = "#7b8794";
    layer.fillRect(0, 0, width, height);
    layer.clearRect(...inside);
    layer.drawImage(empty, ...inside);
    return shade;
  }

  function draw(context, width, height) {
    const f = frame(width, height);
    if (empty) {
      context.globalAlpha = isDark(map.canvas.closest(".ml")) ? 0.32 : 0.2;
      context.drawImage(shadeFor(f, width, height), 0, 0);
    }
    context.globalAlpha = 0.75;
    const size = places.m > 5000 ? 1.5 : 3;
    for (let i = 0; i < places.m; i++) {
      const [x, y] = f.to(at(i, 0), at(i, 1));
      context.fillStyle = colourOf(i);
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
    context.globalAlpha = 1;
    const [x, y] = f.to(state.z[0], state.z[1] ?? 0);
    for (const [colour, wide] of [[cssColour(map.canvas, "--ml-paper"), 6], [cssColour(map.canvas, "--ml-accent"), 3]]) {
      context.strokeStyle = colour;
      context.lineWidth = wide;
      context.beginPath();
      context.arc(x, y, 10, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  const values = arrays.values?.data;
  const ends = values && values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  function colourOf(i) {
    if (arrays.codes) return classColour(arrays.codes.data[i]);
    return values ? css(scaleColour((values[i] - ends[0]) / (ends[1] - ends[0] || 1))) : "#7b8794";
  }

  /** Go to a place of the first two coordinates; the others are those of the nearest row. */
  function move(u, v) {
    const begun = performance.now();
    state.z = [u, v].slice(0, way.q);
    if (way.q > 2) {
      let [best, least] = [0, Infinity];
      for (let i = 0; i < places.m; i++) {
        const r = (at(i, 0) - u) ** 2 + (at(i, 1) - v) ** 2;
        if (r < least) [best, least] = [i, r];
      }
      for (let k = 2; k < way.q; k++) state.z.push(at(best, k));
    }
    show();
    state.times.push(performance.now() - begun);
  }

  function show() {
    way.row(state.z, point);
    const [radius, p] = [way.radius(state.z), way.pValue(state.z)];
    const none = p <= 0.05;
    says.classList.toggle("ml-warn", none);
    const sure = Number.isFinite(radius) ? `90 % of rows here are within ${formatNumber(radius)} of it.` : "";
    says.textContent = none
      ? `There is no data here (p = ${formatNumber(p)}): the row is made up.`
      : `${sure} (p = ${formatNumber(p)})`;
    if (image) paintImage(image, point.map((x, j) => x + facts.origin[j]), facts.imageShape, facts.limits);
    else {
      const share = (c) => (c.values ? null : point[c.at] / facts.deviations[c.at] / 3);
      barList(bars, columns.slice(0, LISTED).map((c) => ({ name: c.name, text: textOf(c.of(point)), share: share(c) })));
    }
    map.redraw();
  }

  let wanted = null;
  const follow = (event) => {
    const { left, top, width, height } = map.canvas.getBoundingClientRect();
    const next = frame(width, height).from(event.clientX - left, event.clientY - top);
    if (!wanted) requestAnimationFrame(() => (move(...wanted), (wanted = null)));
    wanted = next;
  };
  map.canvas.addEventListener("pointerdown", (event) => {
    map.canvas.setPointerCapture(event.pointerId);
    follow(event);
  });
  map.canvas.addEventListener("pointermove", (event) => event.buttons && follow(event));
  map.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const by = (box[0][1] - box[0][0]) / 100;
    move(state.z[0] + by * step[0], (state.z[1] ?? 0) + by * step[1]);
  });

  const legend = (facts.classes ?? []).map((name, k) => {
    const dot = h("i");
    dot.style.background = classColour(k);
    return h("span", {}, dot, name);
  });
  const more = columns.length > LISTED && !image ? ` The first ${LISTED} of ${columns.length} columns.` : "";
  const dims = way.q > 2 ? ` The map has ${way.q} dimensions; two are shown, the others are those of the nearest row.` : "";
  const lead = `Drag the ring: the row that its place stands for is on the side. Shaded: no data.${dims}${more}`;
  const nearestRow = button("To the nearest row", () => {
    const [[, i]] = way.nearest(state.z, places, 1);
    move(at(i, 0), at(i, 1));
  });
  const side = h("aside", { class: "ml-side" }, h("h2", {}, "The row here"), says, image ?? bars, h("div", { class: "ml-row" }, nearestRow));
  const box2 = h("div", { class: "ml-mapbox" }, h("div", { class: "ml-canvas" }, map.canvas), h("div", { class: "ml-legend" }, legend));
  const head = h("header", { class: "ml-head" }, h("div", {}, h("h1", {}, facts.title), h("p", {}, lead)));
  element.replaceChildren(h("div", { class: "ml ml-mappage" }, head, h("main", { class: "ml-body" }, box2, side)));
  show();
  return { way, state, move, columns };
}

/** An image of the cells in which there is no data; null for maps of more than two dimensions. */
function shadeOf(way, box) {
  if (way.q > 2) return null;
  const sides = box.map(([low, high]) => high - low);
  const [width, height] = sides.map((side) => Math.max(1, Math.round((CELLS * side) / Math.max(...sides))));
  const canvas = h("canvas", { width, height });
  const context = canvas.getContext("2d");
  context.fillStyle = "#7b8794";
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < height; j++) {
      const z = [box[0][0] + ((i + 0.5) / width) * sides[0], box[1][1] - ((j + 0.5) / height) * sides[1]];
      if (way.pValue(z.slice(0, way.q)) <= 0.05) context.fillRect(i, j, 1, 1);
    }
  }
  return canvas;
}
