// A point of input space as a picture: an image, a place in the plane, or bars of its variables.

import { columnsOf, textOf } from "./columns.js";
import { cssColour, drawing, h } from "./dom.js";
import { rowNumber, rowOf } from "./model.js";
import { css, signedColour } from "./palette.js";

/** Values in the reader's own coordinates. */
export function unshift(model, x) {
  const { origin } = model.facts;
  return Array.from(x, (value, j) => value + origin[j]);
}

/** Draw an image of ink on paper; dark pages turn it round. */
export function paintImage(canvas, values, shape, limits) {
  const [height, width, colours = 1] = shape;
  if (canvas.width !== width || canvas.height !== height)
    [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const dark = isDark(canvas.closest(".ml"));
  const [low, high] = limits;
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) {
      const share = (values[i * colours + (colours === 3 ? c : 0)] - low) / (high - low);
      const bounded = Math.min(Math.max(share, 0), 1);
      image.data[4 * i + c] = 255 * (colours === 3 || dark ? bounded : 1 - bounded);
    }
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

/** Numbers below and above zero over the pixels of an image. */
export function paintSigned(canvas, values, shape, dark = false) {
  const [height, width, colours = 1] = shape;
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const largest = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
  for (let i = 0; i < width * height; i++) {
    let sum = 0;
    for (let c = 0; c < colours; c++) sum += values[i * colours + c] / colours;
    image.data.set([...signedColour(sum / largest, dark), 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

export function isDark(root) {
  if (root?.dataset.theme) return root.dataset.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * An element that shows points of a model; show(x) draws another one.
 * Images are drawn as images, everything else as bars in units of each variable's spread.
 */
export function makePicture(model, label) {
  const shape = model.facts.imageShape;
  if (shape) {
    const canvas = h("canvas", { class: "ml-image", role: "img", "aria-label": label });
    return {
      element: canvas,
      show: (x) => paintImage(canvas, unshift(model, x), shape, model.facts.limits),
    };
  }
  if (model.d === 2) return planePicture(model, label);
  const element = h("div", { class: "ml-bars", role: "img", "aria-label": label });
  return { element, show: (x) => showBars(element, model, x) };
}

/** A place of the plane among the rows. */
function planePicture(model, label) {
  let shown = null;
  const picture = drawing(
    (context, width, height) => {
      if (shown) paintPlane(context, width, height, model, [shown]);
    },
    { class: "ml-plane", role: "img", "aria-label": label },
  );
  return {
    element: picture.canvas,
    show(x) {
      shown = x;
      picture.redraw();
    },
  };
}

/** Points of the plane, strong; some rows of the model behind them, quiet. */
export function paintPlane(context, width, height, model, points) {
  const rows = model.rows ?? model.P.support;
  const { mean, deviation } = model.spread;
  const unit = Math.min(width, height) / 5.6 / Math.max(...deviation);
  const place = (x, y) => [width / 2 + (x - mean[0]) * unit, height / 2 - (y - mean[1]) * unit];
  const dot = (x, y, radius) => {
    context.beginPath();
    context.arc(...place(x, y), radius, 0, 2 * Math.PI);
    context.fill();
  };
  context.fillStyle = cssColour(context.canvas, "--ml-line");
  const step = Math.max(1, Math.floor(rows.m / 400));
  for (let i = 0; i < rows.m; i += step)
    dot(rows.data[2 * i], rows.data[2 * i + 1], width > 120 ? 1.8 : 1);
  context.fillStyle = cssColour(context.canvas, "--ml-accent");
  points.forEach((x) => dot(x[0], x[1], points.length > 1 ? 2.2 : width > 120 ? 6 : 4));
}

/** The picture that came with a row, if pictures did. */
export function rowPicture(model, i) {
  if (!model.pictures || i === null) return null;
  const { data, shape } = model.pictures;
  const row = model.index ? model.index[i] : i;
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  const canvas = h("canvas", {
    class: "ml-image",
    role: "img",
    "aria-label": `picture of row ${row}`,
  });
  const values = data.subarray(row * size, (row + 1) * size);
  // Pictures are shown as they are, on any paper: not yet in the page, a canvas is on light paper
  // or on that of the system, and turning ink and paper round twice leaves them.
  paintImage(
    canvas,
    values,
    shape.slice(1),
    shape.length === 4 || isDark(null) ? [0, 255] : [255, 0],
  );
  return canvas;
}

/** A small picture of a row, or null where rows have none. */
export function thumbnail(model, i) {
  const given = rowPicture(model, i);
  if (given || !model.facts.imageShape || !model.rows) return given;
  const picture = makePicture(model, `row ${rowNumber(model, i)}`);
  picture.show(rowOf(model, i));
  return picture.element;
}

const MOST_BARS = 12;

/** The variables that differ most from the mean, as bars to the left and right of it. */
function showBars(element, model, x) {
  const { mean, deviation } = model.spread;
  const units = Array.from(x, (value, j) => (value - mean[j]) / deviation[j]);
  const columns = columnsOf(model);
  const size = ({ at, width }) => Math.max(...units.slice(at, at + width).map(Math.abs));
  const shown =
    columns.length <= MOST_BARS
      ? columns
      : [...columns].sort((a, b) => size(b) - size(a)).slice(0, MOST_BARS);
  barList(
    element,
    shown.map((column) => ({
      name: column.name,
      share: column.values ? null : units[column.at] / 3,
      text: textOf(column.of(x)),
    })),
  );
}

/** Lines of a name, a bar from the middle (share between -1 and 1; none if null) and a text. */
export function barList(element, lines) {
  while (element.children.length > lines.length) element.lastChild.remove();
  lines.forEach((line, k) => {
    let row = element.children[k];
    if (!row) {
      row = h("div", { class: "ml-bar" }, h("span"), h("i", {}, h("b")), h("span"));
      element.append(row);
    }
    const [name, track, value] = row.children;
    [name.textContent, name.title, value.textContent] = [line.name, line.name, line.text];
    row.classList.toggle("ml-word", line.share === null);
    const size = Math.min(Math.abs(line.share), 1) / 2;
    track.firstChild.style.width = `${100 * size}%`;
    track.firstChild.style.left = `${100 * (line.share < 0 ? 0.5 - size : 0.5)}%`;
    track.firstChild.style.background = css(signedColour(line.share < 0 ? -0.9 : 0.9));
  });
}

/** Two histograms over each other: shares of a selection, strong, before those of the rest. */
export function pairChart(label, inside, outside) {
  const chart = drawing(
    (context, width, height) => {
      const top = Math.max(...inside, ...outside, 1e-300);
      const step = width / inside.length;
      const paint = (shares, colour, from, wide) => {
        context.fillStyle = cssColour(chart.canvas, colour);
        shares.forEach((share, k) => {
          const size = (share / top) * (height - 2);
          context.fillRect((k + from) * step, height - size, wide * step, size);
        });
      };
      paint(outside, "--ml-line", 0.04, 0.92);
      paint(inside, "--ml-accent", 0.26, 0.48);
    },
    { class: "ml-chart ml-pairchart", role: "img", "aria-label": label },
  );
  return chart.canvas;
}

/** A small chart of numbers as columns, the first `lit` of them strong. */
export function columnChart(label) {
  let shown = { values: [], lit: 0, floor: 0 };
  const chart = drawing(
    (context, width, height) => {
      const { values, lit } = shown;
      const top = Math.max(...values, 1e-300);
      const step = width / Math.max(values.length, 1);
      values.forEach((value, k) => {
        const size = Math.max((value / top) * (height - 4), 1);
        context.fillStyle = cssColour(chart.canvas, k < lit ? "--ml-accent" : "--ml-line");
        context.fillRect(k * step + step * 0.12, height - size, step * 0.76, size);
      });
    },
    { class: "ml-chart", role: "img", "aria-label": label },
  );
  return {
    element: chart.canvas,
    show(values, lit) {
      shown = { values, lit };
      chart.redraw();
    },
  };
}
