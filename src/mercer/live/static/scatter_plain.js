// Points painted pixel by pixel, for machines without a graphics card: 100,000 in a few milliseconds.

import { cssColour } from "./dom.js";
import { rgb } from "./palette.js";

export function onPlainCanvas(canvas) {
  const context = canvas.getContext("2d");
  let points = null;
  let colours = null;
  let image = null;
  return {
    kind: "plain",
    setPoints: (xy) => (points = xy),
    setColours: (rgba) => (colours = rgba),
    draw(view, size, opacity = 1) {
      const { width, height } = canvas;
      if (image?.width !== width || image?.height !== height) {
        image = context.createImageData(width, height);
      }
      // On paper of the page's own colour: then a dot needs no division to be laid over another.
      const [r, g, b] = rgb(cssColour(canvas, "--ml-paper"));
      new Uint32Array(image.data.buffer).fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
      if (points && colours) paint(image, view, points, colours, makeStamp(size, view), opacity);
      context.putImageData(image, 0, 0);
    },
  };
}

/** A disc with a soft edge, as offsets and coverages between 0 and 1. */
function makeStamp(size, { ratio = 1 }) {
  const radius = (size * ratio) / 2;
  const reach = Math.ceil(radius);
  const stamp = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(dx, dy), 0), 1);
      if (cover > 0.05) stamp.push([dx, dy, cover]);
    }
  }
  return { stamp, reach };
}

function paint(image, view, points, colours, { stamp, reach }, opacity) {
  const { data, width, height } = image;
  const scale = view.scale * (view.ratio ?? 1);
  const [left, top] = [width / 2 - view.cx * scale, height / 2 + view.cy * scale];
  const offsets = Int32Array.from(stamp, ([dx, dy]) => 4 * (dy * width + dx));
  const covers = Float32Array.from(stamp, ([, , cover]) => cover * opacity * (256 / 255));
  for (let i = 0; i < points.length / 2; i++) {
    const x = Math.round(left + points[2 * i] * scale);
    const y = Math.round(top - points[2 * i + 1] * scale);
    if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
    const [r, g, b] = [colours[4 * i], colours[4 * i + 1], colours[4 * i + 2]];
    const strength = colours[4 * i + 3];
    const at = 4 * (y * width + x);
    for (let k = 0; k < offsets.length; k++) {
      const to = at + offsets[k];
      const alpha = (covers[k] * strength) | 0; // of 256
      data[to] += ((r - data[to]) * alpha) >> 8;
      data[to + 1] += ((g - data[to + 1]) * alpha) >> 8;
      data[to + 2] += ((b - data[to + 2]) * alpha) >> 8;
    }
  }
}
