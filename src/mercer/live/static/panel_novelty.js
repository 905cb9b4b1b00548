// Novelty: a threshold by its false-alarm rate, and the strangest rows.

import { wordsFor } from "./columns.js";
import { drawing, cssColour, h, slider } from "./dom.js";
import { formatNumber, labelOf, rowNumber } from "./model.js";
import { threshold } from "./novelty.js";
import { thumbnail } from "./pictures.js";
import { streamPlayer } from "./stream.js";

const LISTED = 12;

export function noveltyPanel(app) {
  const { state } = app;
  const element = h("div", {});
  const words = h("p", { class: "ml-verdict" });
  const list = h("ol", { class: "ml-strange" });
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
      "A row is flagged as new if it lies far from what the model has learnt. ",
      "Choose how many normal rows may be flagged by mistake; click a row to see why.",
    ),
    control.element,
    words,
    promise,
    histogram.canvas,
    h("h3", {}, "Strangest rows"),
    list,
    ...[streamPlayer(app)].filter(Boolean),
  );
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
    const { slack, heldOut, tooKind } = current.facts.novelty;
    bar = threshold(current.calibration, slack, rate);
    const order = [...current.novelty.keys()].sort(
      (a, b) => current.novelty[b] - current.novelty[a],
    );
    const found = order.filter((i) => current.novelty[i] > bar);
    const many = (count) => count.toLocaleString("en");
    words.textContent = `${many(found.length)} of ${many(current.n)} rows ${found.length === 1 ? "is" : "are"} flagged as new.`;
    promise.textContent = heldOut
      ? `The rate holds for new rows: it was set by ${many(current.calibration.length)} rows that the model had not seen.${tooKind ? " The rows shown are those of the fit, and look more normal to the model than new rows would." : ""}`
      : "These are the rows of the fit: this is a ranking, with no guarantee for new rows. A KernelNovelty model gives one.";
    app.flagged = found;
    app.recolour();
    histogram.redraw();
    list.replaceChildren(...order.slice(0, LISTED).map((i) => entry(current, i)));
  }

  function entry(current, i) {
    const label = labelOf(current, i);
    const words = wordsFor(current);
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "ml-strange-row", onclick: () => app.choose(i) },
        thumbnail(current, i) ?? "",
        h("span", {}, `row ${rowNumber(current, i)}${label === "" ? "" : ` · ${label}`}`),
        h(
          "small",
          {},
          `${words.p} ${words.show(current.pValues[i])}`,
        ),
      ),
    );
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
