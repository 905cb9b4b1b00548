// Data: a file to load, the estimator and its kernel, a fit of all rows in Python.

import { button, choice, h, slider } from "./dom.js";
import { formatNumber } from "./model.js";
import { KERNELS, WITHOUT_WIDTH } from "./panel_knobs.js";

const MODELS = [
  ["kpca", "Kernel PCA"],
  ["sparse", "Sparse: few examples"],
  ["novelty", "Novelty"],
  ["generative", "Generative"],
  ["robust", "Robust against outliers"],
  ["missing", "With missing values"],
];
const TAKES = ".csv,.tsv,.txt,.parquet,.npy,.npz,.zip,.mercer";

/** @param app null where nothing is shown yet */
export function dataForm(desk, app) {
  const wanted = (desk.wanted ??= { model: "kpca", name: "gaussian", medians: 1, q: 20, label: "" });
  const file = h("input", {
    type: "file",
    accept: TAKES,
    "aria-label": "A file of rows, or a model",
    onchange: () => file.files[0] && desk.upload(file.files[0]),
  });
  const words = h("p", { class: "ml-verdict", role: "status" });
  const bar = h("progress", { max: 1, "aria-label": "How far the fit is" });
  const cancel = button("Cancel", () => desk.cancel());
  const name = h("p", { class: "ml-lead" });
  const form = h("div", {}, ...knobs(wanted), h("div", { class: "ml-row" }, fitButton()));
  const element = h("div", {}, name, file, form, words, bar, cancel);
  let shown = false;
  desk.listen(({ busy, share, source }) => {
    if (shown && !element.isConnected && app && globalThis.mercerLive?.app !== app) return false;
    shown = true;
    words.textContent = desk.words;
    bar.hidden = cancel.hidden = !busy;
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
    form.hidden = !source;
    name.textContent = source ? `Rows of ${source.name}.` : "A file of rows, or a model:";
    return true;
  });
  return element;

  function fitButton() {
    return button("Fit all rows", () => {
      const kernel = { name: wanted.name };
      if (!WITHOUT_WIDTH.includes(wanted.name)) kernel.medians = wanted.medians;
      const label = wanted.label ? { label: wanted.label } : {};
      desk.run({ model: wanted.model, kernel, q: wanted.q, center: true, ...label });
    });
  }
}

function knobs(wanted) {
  const width = slider("Width", {
    min: -4,
    max: 4,
    step: 0.1,
    value: Math.log2(wanted.medians),
    mark: { at: 0, text: "median" },
    show: (v) => `${formatNumber(2 ** v)} × median`,
    oninput: (v) => (wanted.medians = 2 ** v),
  });
  const hide = () => (width.element.hidden = WITHOUT_WIDTH.includes(wanted.name));
  const model = choice("Estimator", MODELS, wanted.model, (key) => (wanted.model = key));
  const kernel = choice("Kernel", KERNELS, wanted.name, (key) => {
    wanted.name = key;
    hide();
  });
  hide();
  const count = slider("Components", {
    min: 1,
    max: 100,
    step: 1,
    value: wanted.q,
    oninput: (q) => (wanted.q = q),
  });
  const id = "ml-label-column";
  const label = h("input", { type: "text", id, value: wanted.label, maxLength: 200 });
  label.addEventListener("input", () => (wanted.label = label.value));
  const column = h("label", { htmlFor: id }, "Column of classes");
  const hint = { class: "ml-field ml-choice" };
  return [
    model.element,
    kernel.element,
    width.element,
    count.element,
    h("div", hint, column, label),
  ];
}
