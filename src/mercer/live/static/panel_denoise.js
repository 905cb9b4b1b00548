// Denoise: clean, noisy, linear PCA and kernel PCA side by side, with their errors.

import { drawing, h, slider } from "./dom.js";
import { formatNumber, labelOf, rowNumber, rowOf } from "./model.js";
import { makePicture, paintPlane } from "./pictures.js";
import { denoise } from "./preimage.js";

const METHODS = ["clean", "noisy", "linear PCA", "kernel PCA"];

export function denoisePanel(app) {
  const { model } = app;
  const figures = h("table", { class: "ml-table" });
  const words = h("p", { class: "ml-verdict", role: "status" });
  const sheet = h("div", { class: "ml-denoise" });
  const centre = h("div", { class: "ml-scroll" }, sheet);
  const element = h("div", {});
  let level = 0.6;
  let used = null;
  let built = null;
  let timer = null;
  let seed = 1;
  if (!model.rows) element.append(h("p", { class: "ml-lead" }, "The file contains no rows to add noise to."));
  return { id: "denoise", title: "Denoise", element, centre, enter: () => model.rows && enter() };

  function enter() {
    if (built !== app.current) build();
    compute();
  }

  function build() {
    built = app.current;
    used = built.P.q;
    const noise = slider("Noise", {
      min: 0,
      max: 1.5,
      step: 0.01,
      value: level,
      show: (v) => `${v.toFixed(2)} × spread`,
      oninput: (v) => later(() => (level = v)),
    });
    const components = slider("Components", {
      min: 1,
      max: used,
      step: 1,
      value: used,
      oninput: (v) => later(() => (used = v)),
    });
    const again = h(
      "button",
      { type: "button", class: "ml-button", onclick: () => later(() => (seed += 1)) },
      "Other noise",
    );
    element.replaceChildren(
      h(
        "p",
        { class: "ml-lead" },
        "Normal noise is added to some rows. Both methods project the noisy row and return to input ",
        "space; linear PCA may take the number of components that suits it best.",
      ),
      noise.element,
      components.element,
      h("div", { class: "ml-row" }, again),
      h("h3", {}, "Root mean square error per value"),
      figures,
      words,
    );
  }

  function later(change) {
    change();
    if (timer) return;
    timer = requestAnimationFrame(() => {
      timer = null;
      compute();
    });
  }

  function compute() {
    const model = app.current;
    const q = used;
    const shown = someRows(model, model.d === 2 ? 200 : model.facts.imageShape ? 8 : 5);
    const spread = Math.sqrt(model.spread.deviation.reduce((sum, s) => sum + s * s, 0) / model.d);
    const random = normals(seed);
    const clean = shown.map((i) => rowOf(model, i));
    const noisy = clean.map((x) => x.map((value) => value + level * spread * random()));
    const linear = bestLinear(model.linear, clean, noisy);
    const kernel = noisy.map((x) => denoise(model.P, x, q, { maxSteps: 60, tol: 1e-4 }).point);
    const all = [clean, noisy, linear.points, kernel];
    const errors = all.map((points) => rootMeanSquare(points, clean));
    const notes = [
      "",
      "",
      `${linear.count} of ${model.linear.axes.m} components`,
      `${q} of ${model.P.q} components`,
    ];
    figures.replaceChildren(
      ...METHODS.slice(1).map((name, k) =>
        h(
          "tr",
          { class: errors[k + 1] === Math.min(...errors.slice(1)) ? "ml-best" : "" },
          h("th", { scope: "row" }, name, h("small", {}, notes[k + 1])),
          h("td", {}, formatNumber(errors[k + 1])),
        ),
      ),
    );
    words.textContent = verdict(errors);
    app.lastDenoise = errors;
    draw(model, shown, all, errors);
  }

  function draw(model, shown, all, errors) {
    sheet.classList.toggle("ml-planes", model.d === 2);
    if (model.d === 2) return drawPlanes(model, all, errors);
    const heads = [
      h("div", {}),
      ...METHODS.map((name, k) =>
        h(
          "div",
          { class: "ml-colhead" },
          name,
          h("small", {}, k ? formatNumber(errors[k]) : "as given"),
        ),
      ),
    ];
    const lines = shown.flatMap((i, r) => [
      h(
        "div",
        { class: "ml-rowhead" },
        `row ${rowNumber(model, i)}`,
        h("small", {}, labelOf(model, i)),
      ),
      ...all.map((points, k) => {
        const picture = makePicture(model, `${METHODS[k]}, row ${rowNumber(model, i)}`);
        picture.later = () => picture.show(points[r]);
        return picture;
      }),
    ]);
    sheet.replaceChildren(...heads, ...lines.map((cell) => cell.element ?? cell));
    lines.forEach((cell) => cell.later?.());
  }

  function drawPlanes(model, all, errors) {
    sheet.replaceChildren(
      ...METHODS.map((name, k) => {
        const plane = drawing(
          (context, width, height) => paintPlane(context, width, height, model, all[k]),
          { class: "ml-plane", role: "img", "aria-label": `${name} rows in the plane` },
        );
        return h(
          "figure",
          {},
          h(
            "div",
            { class: "ml-colhead" },
            name,
            h("small", {}, k ? formatNumber(errors[k]) : "as given"),
          ),
          plane.canvas,
        );
      }),
    );
  }
}

/** Who is better, and what to do where kernel PCA is not. */
function verdict([, noisy, linear, kernel]) {
  if (noisy < Math.min(linear, kernel)) return "With so little noise, it is best to leave the rows alone.";
  if (Math.abs(kernel - linear) < 0.005 * linear) return "Kernel PCA and linear PCA do equally well.";
  if (kernel <= linear)
    return `Kernel PCA is better by ${Math.round(100 * (1 - kernel / linear))} %.`;
  return (
    `Linear PCA is better by ${Math.round(100 * (1 - linear / kernel))} % with this kernel and number of ` +
    "components. Move the slider; or let model.tune(X), or mercer tune on the command line, choose both."
  );
}

/** Rows to show: evenly spaced, or the first of each class. */
function someRows(model, count) {
  if (model.codes && count < 100) {
    const first = model.facts.classes.map((_, k) => model.codes.indexOf(k)).filter((i) => i >= 0);
    if (first.length >= 4) return first.slice(0, count);
  }
  return Array.from({ length: Math.min(count, model.n) }, (_, k) =>
    Math.floor((k * model.n) / count),
  );
}

/** Linear PCA with the number of components whose error is least: more than it could know. */
function bestLinear({ mean, axes }, clean, noisy) {
  const states = noisy.map((x) => ({
    point: Float64Array.from(mean),
    left: x.map((v, j) => v - mean[j]),
  }));
  let best = { error: Infinity };
  for (let k = 0; k <= axes.m; k++) {
    const points = states.map(({ point }) => point);
    const error = rootMeanSquare(points, clean);
    if (error < best.error)
      best = { error, count: k, points: points.map((point) => Float64Array.from(point)) };
    if (k === axes.m) break;
    const axis = axes.data.subarray(k * axes.d, (k + 1) * axes.d);
    for (const { point, left } of states) {
      let sum = 0;
      for (let j = 0; j < axes.d; j++) sum += axis[j] * left[j];
      for (let j = 0; j < axes.d; j++) point[j] += sum * axis[j];
    }
  }
  return best;
}

function rootMeanSquare(points, clean) {
  let sum = 0;
  points.forEach((x, i) => x.forEach((value, j) => (sum += (value - clean[i][j]) ** 2)));
  return Math.sqrt(sum / (points.length * clean[0].length));
}

/** Normal random numbers, the same for the same seed (Box & Muller on a small generator). */
function normals(seed) {
  let state = (seed * 2654435761) >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
