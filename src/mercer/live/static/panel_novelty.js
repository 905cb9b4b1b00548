// Novelty: a threshold by its false-alarm rate, the strangest rows, and what made them so.

import { columnsOf } from "./columns.js";
import { drawing, cssColour, h, slider } from "./dom.js";
import { formatNumber, labelOf, rowNumber, rowOf } from "./model.js";
import { contributions, threshold } from "./novelty.js";
import { barList, isDark, makePicture, paintSigned } from "./pictures.js";

const LISTED = 12;

export function noveltyPanel(app) {
  const { state } = app;
  const element = h("div", {});
  const words = h("p", { class: "ml-verdict" });
  const list = h("ol", { class: "ml-strange" });
  const why = h("div", {});
  const histogram = drawing(drawHistogram, {
    class: "ml-chart ml-tall",
    role: "img",
    "aria-label": "Histogram of the scores, with the threshold",
  });
  let rate = app.model.facts.novelty.rate;
  let bar = 0;
  let before = state.colour;
  const control = slider("False alarms", {
    min: -3,
    max: -0.3,
    step: 0.01,
    value: Math.log10(rate),
    show: (v) => `${formatNumber(100 * 10 ** v)} %`,
    oninput: (v) => {
      rate = 10 ** v;
      show();
    },
  });
  const promise = h("p", { class: "ml-sub" });
  element.append(
    h(
      "p",
      { class: "ml-lead" },
      "A row is new if its image lies far from the subspace. ",
      "The threshold lets so many normal rows be called new:",
    ),
    control.element,
    words,
    promise,
    histogram.canvas,
    h("h3", {}, "Strangest rows"),
    list,
    why,
  );
  app.on("chosen", (i) => state.tab === "novelty" && i !== null && explain(i));
  app.on("model", () => state.tab === "novelty" && show());
  return {
    id: "novelty",
    title: "Novelty",
    element,
    enter() {
      before = state.colour;
      state.colour = "new";
      show();
    },
    leave() {
      state.colour = before === "new" ? "label" : before;
      app.recolour();
    },
  };

  function show() {
    const { current } = app;
    const { slack, heldOut } = current.facts.novelty;
    bar = threshold(current.calibration, slack, rate);
    const order = [...current.novelty.keys()].sort(
      (a, b) => current.novelty[b] - current.novelty[a],
    );
    const found = order.filter((i) => current.novelty[i] > bar);
    const many = (count) => count.toLocaleString("en");
    words.textContent = `${many(found.length)} of ${many(current.n)} rows are called new.`;
    promise.textContent = heldOut
      ? `The rate holds for new rows: ${many(current.calibration.length)} rows that the model had not seen set it.`
      : "The rows shown are those of the fit: this is their ranking, and no promise. KernelNovelty makes one.";
    app.flagged = found;
    app.recolour();
    histogram.redraw();
    list.replaceChildren(...order.slice(0, LISTED).map((i) => entry(current, i)));
  }

  function entry(current, i) {
    const label = labelOf(current, i);
    const x = rowOf(current, i);
    const small =
      current.facts.imageShape && x
        ? makePicture(current, `row ${rowNumber(current, i)}`)
        : null;
    small?.show(x);
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "ml-strange-row", onclick: () => app.choose(i) },
        small?.element ?? "",
        h("span", {}, `row ${rowNumber(current, i)}${label === "" ? "" : ` · ${label}`}`),
        h(
          "small",
          {},
          `${current.facts.novelty.heldOut ? "p" : "rank"} ${formatNumber(current.pValues[i])}`,
        ),
      ),
    );
  }

  /** Which variables made a row strange. */
  function explain(i) {
    const { current } = app;
    const x = rowOf(current, i);
    if (!x) return why.replaceChildren();
    const { parts } = contributions(current.P, current.facts.novelty, x);
    const title = h("h3", {}, `What makes row ${rowNumber(current, i)} strange`);
    if (current.facts.imageShape) {
      const canvas = h("canvas", {
        class: "ml-image",
        role: "img",
        "aria-label": "contribution of each pixel",
      });
      paintSigned(canvas, parts, current.facts.imageShape, isDark(app.root));
      return why.replaceChildren(
        title,
        canvas,
        h("p", { class: "ml-sub" }, "Orange pixels make it newer, blue ones more usual."),
      );
    }
    const sums = columnsOf(current).map(({ name, at, width }) => ({
      name,
      part: parts.slice(at, at + width).reduce((a, b) => a + b, 0),
    }));
    const order = sums.sort((a, b) => Math.abs(b.part) - Math.abs(a.part)).slice(0, 8);
    const largest = Math.abs(order[0].part) || 1;
    const bars = h("div", { class: "ml-bars" });
    barList(
      bars,
      order.map(({ name, part }) => ({
        name,
        share: part / largest,
        text: formatNumber(part),
      })),
    );
    why.replaceChildren(title, bars);
  }

  function drawHistogram(context, width, height) {
    const { novelty } = app.current;
    const top =
      Math.max(
        novelty.reduce((a, b) => Math.max(a, b), 0),
        bar,
      ) || 1;
    const count = 40;
    const bins = new Float64Array(count);
    for (const value of novelty) bins[Math.min(count - 1, Math.floor((count * value) / top))] += 1;
    const most = Math.max(...bins);
    const step = width / count;
    bins.forEach((size, k) => {
      const tall = size ? Math.max((height - 16) * (size / most), 1) : 0;
      context.fillStyle = cssColour(
        histogram.canvas,
        ((k + 0.5) / count) * top > bar ? "--ml-warm" : "--ml-line",
      );
      context.fillRect(k * step + 0.5, height - tall, step - 1, tall);
    });
    context.fillStyle = cssColour(histogram.canvas, "--ml-ink");
    context.fillRect((width * bar) / top - 0.75, 8, 1.5, height - 8);
    context.font = "11px system-ui, sans-serif";
    context.textAlign = bar / top > 0.5 ? "right" : "left";
    context.fillText("threshold", (width * bar) / top + (bar / top > 0.5 ? -5 : 5), 14);
  }
}
