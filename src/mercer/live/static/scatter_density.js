// Very many points as a density: where more of them lie the ink is stronger, and a lonely one stays.
//
// Dots laid over each other end as one opaque disc. Here the weight of each pixel is counted first,
// and turned into ink once, so that the order of the points does not matter either.

import { cssColour } from "./dom.js";
import { rgb } from "./palette.js";

/** Ink of a single point, and how quickly more of them fill a pixel of middling weight. */
const [LONELY, FILL] = [0.5, 1.6];
/** Ink of points beside a selection. */
const FADED = 0.25;
/** Each point also covers its neighbours, with these weights. */
const STAMP = [
  [0, 0, 1],
  [1, 0, 0.4],
  [-1, 0, 0.4],
  [0, 1, 0.4],
  [0, -1, 0.4],
];

export function asDensity(canvas) {
  const context = canvas.getContext("2d");
  let points = null;
  let colours = null;
  return {
    kind: "density",
    setPoints: (xy) => (points = xy),
    setColours: (rgba) => (colours = rgba),
    draw(view) {
      const { width, height } = canvas;
      const image = context.createImageData(width, height);
      const [r, g, b] = rgb(cssColour(canvas, "--ml-paper"));
      new Uint32Array(image.data.buffer).fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
      if (points && colours) {
        // Faded rows first: those that are selected lie over them.
        const layers = [count(view, width, height, false), count(view, width, height, true)];
        layers.forEach((layer, k) => layer && lay(image.data, layer, k ? 1 : FADED));
      }
      context.putImageData(image, 0, 0);
    },
  };

  /** Weights and sums of colours of each pixel: [w, r, g, b, ...], of strong or of faded points. */
  function count(view, width, height, strong) {
    const scale = view.scale * (view.ratio ?? 1);
    const [left, top] = [width / 2 - view.cx * scale, height / 2 + view.cy * scale];
    const offsets = STAMP.map(([dx, dy]) => 4 * (dy * width + dx));
    const weights = STAMP.map(([, , weight]) => weight);
    let sums = null;
    for (let i = 0; i < points.length / 2; i++) {
      if (colours[4 * i + 3] === 255 !== strong) continue;
      const x = Math.round(left + points[2 * i] * scale);
      const y = Math.round(top - points[2 * i + 1] * scale);
      if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) continue;
      sums ??= new Float32Array(4 * width * height);
      for (let k = 0; k < offsets.length; k++) {
        const at = 4 * (y * width + x) + offsets[k];
        sums[at] += weights[k];
        for (let c = 0; c < 3; c++) sums[at + c + 1] += weights[k] * colours[4 * i + c];
      }
    }
    return sums;
  }
}

/** Lay a layer over what is there: its mean colour, as strong as its weight. */
function lay(data, sums, most) {
  const slope = FILL / middling(sums);
  for (let at = 0; at < sums.length; at += 4) {
    const weight = sums[at];
    if (!weight) continue;
    const filled = weight > 1 ? 1 - Math.exp(-slope * (weight - 1)) : 0;
    const ink = most * (LONELY * Math.min(weight, 1) + (1 - LONELY) * filled);
    for (let c = 0; c < 3; c++) data[at + c] += ink * (sums[at + c + 1] / weight - data[at + c]);
  }
}

/** The weight that a tenth of the pixels with any exceed. */
function middling(sums) {
  const weights = [];
  for (let at = 0; at < sums.length; at += 4) if (sums[at]) weights.push(sums[at]);
  return Float32Array.from(weights).sort()[Math.floor(0.9 * weights.length)] || 1;
}
