// The inspector: the row under the cursor, the chosen row, or the probe.

import { wordsFor } from "./columns.js";
import { h } from "./dom.js";
import { explainRow, strangest } from "./explain.js";
import { formatNumber, judgePoint, labelOf, rowNumber, rowOf, scoreAt } from "./model.js";
import { isDark, makePicture, paintSigned, rowPicture } from "./pictures.js";
import { scoreGradients } from "./subspace.js";

export function makeInspector(app) {
  const title = h("h2", {}, "Point at a row");
  const label = h("p", { class: "ml-sub" }, "or drag the probe to see it here");
  const frame = h("div", { class: "ml-frame" });
  const facts = h("dl", { class: "ml-facts" });
  const moves = h("div", { class: "ml-moves" });
  const why = h("div", { class: "ml-why" });
  const element = h(
    "aside",
    { class: "ml-inspector", "aria-label": "Inspector" },
    h("div", { class: "ml-subject" }, h("div", {}, title, label), frame, facts),
    why,
    moves,
  );
  let explained = null; // { model, row }
  let picture = makePicture(app.current, "the point, in input space");

  app.on("hover", (i) => (i === null ? settle() : showRow(i, false)));
  app.on("chosen", (i) => (i === null ? settle() : showRow(i, true)));
  app.on("probe", showProbe);
  app.on("model", settle);
  return { element };

  /** Nothing under the cursor: the probe while it is dragged, else the chosen row. */
  function settle() {
    const { state } = app;
    if (state.tab === "drag" && app.point && state.probe) showProbe(app.point);
    else if (state.chosen !== null) showRow(state.chosen, true);
  }

  function showRow(i, explain) {
    const model = app.current;
    const x = rowOf(model, i);
    title.textContent = `Row ${rowNumber(model, i).toLocaleString("en")}`;
    const name = labelOf(model, i);
    const words = [
      ...(name === "" ? [] : [`${model.codes ? "class" : "value"} ${name}`]),
      ...(i === strangest(model) ? [`the strangest of ${model.n.toLocaleString("en")} rows`] : []),
    ];
    label.textContent = words.join(", ");
    const given = rowPicture(model, i);
    if (given) frame.replaceChildren(given);
    else if (x) draw(x);
    else
      frame.replaceChildren(
        h("p", { class: "ml-sub" }, "The file contains only the scores of this row, not its values."),
      );
    show({
      error: model.error[i],
      p: model.pValues[i],
      z: Array.from({ length: Math.min(model.scores.q, 4) }, (_, a) => scoreAt(model, i, a)),
    });
    if (explain && x) showMoves(x);
    if (explain) explainSoon(i);
    else if (explained?.row !== i) why.replaceChildren();
  }

  /** After the row itself is on the screen; a row that was passed over is not explained. */
  function explainSoon(i) {
    const model = app.current;
    if (explained?.model !== model || explained.row !== i) why.replaceChildren();
    setTimeout(() => {
      if (app.state.chosen !== i || app.current !== model) return;
      why.replaceChildren(...explainRow(app, i));
      explained = { model, row: i };
    });
  }

  function showProbe(x) {
    title.textContent = "Probe";
    label.textContent = "the pre-image of the point you are dragging";
    draw(x);
    const seen = judgePoint(app.current, x);
    show({ error: seen.error, p: seen.p, z: Array.from(app.state.probe.subarray(0, 4)) });
    moves.replaceChildren();
    why.replaceChildren();
  }

  function draw(x) {
    if (picture.element.parentNode !== frame) frame.replaceChildren(picture.element);
    picture.show(x);
  }

  function show({ error, p, z }) {
    const words = wordsFor(app.current);
    const lines = [
      [words.error, formatNumber(error), "squared distance from the subspace, in feature space"],
      [
        words.p,
        words.show(p),
        app.current.facts.novelty.heldOut
          ? "how rare a score this large is among rows the model has not seen"
          : "share of the rows shown that are at least as strange",
      ],
      ...z.map((value, a) => [`component ${a}`, formatNumber(value), `score on component ${a}`]),
    ];
    facts.replaceChildren(
      ...lines.flatMap(([name, text, hint]) => [h("dt", { title: hint }, name), h("dd", {}, text)]),
    );
  }

  /** For images: which pixels would move the row along the axes that are shown. */
  function showMoves(x) {
    const { state, current } = app;
    const shape = current.facts.imageShape;
    if (!shape) return moves.replaceChildren();
    const axes = [...new Set([state.x, state.y])];
    const gradients = scoreGradients(current.P, x, axes);
    moves.replaceChildren(
      h("h3", {}, "Pixels that move it"),
      h(
        "div",
        { class: "ml-row" },
        axes.map((a, k) => {
          const canvas = h("canvas", {
            class: "ml-image",
            role: "img",
            "aria-label": `gradient of component ${a}`,
          });
          paintSigned(canvas, gradients[k], shape, isDark(app.root));
          return h("figure", {}, canvas, h("figcaption", {}, `component ${a}`));
        }),
      ),
    );
  }
}
