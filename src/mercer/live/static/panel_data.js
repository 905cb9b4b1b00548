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

/** @param app null where nothing is shown yet */
export function dataForm(desk, app) {
  // label: the column of classes, "" for none, null for the page to choose
  // q: how many components, 0 for as many as `mercer fit` takes
  const wanted = (desk.wanted ??= { model: "kpca", name: "gaussian", medians: 1, q: 0, label: null });
  const file = h("input", {
    type: "file",
    "aria-label": "A file of rows, or a model",
    onchange: () => file.files[0] && desk.upload(file.files[0]),
  });
  const words = h("p", { class: "ml-verdict", role: "status" });
  const bar = h("progress", { max: 1, "aria-label": "Progress of the fit" });
  const cancel = button("Cancel", () => desk.cancel());
  const name = h("p", { class: "ml-lead" });
  const plan = h("div", { class: "ml-plan" });
  const label = h("div", {});
  const form = h("div", {}, ...knobs(wanted, showPlan), label, plan, fitButton(desk, wanted));
  const element = h("div", {}, name, file, words, bar, cancel, form);
  let shown = false;
  let listed = null;
  desk.listen(({ busy, share, source, seconds }) => {
    if (shown && !element.isConnected && app && globalThis.mercerLive?.app !== app) return false;
    shown = true;
    words.textContent = busy && seconds ? `${desk.words} (${seconds} s)` : desk.words;
    bar.hidden = cancel.hidden = !busy;
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
    form.hidden = !source;
    name.textContent = source ? `Rows of ${source.name}.` : "A file of rows, or a model:";
    if (listed !== desk.plan) {
      listed = desk.plan;
      label.replaceChildren(listed ? labelChoice(listed, wanted, showPlan) : "");
      showPlan();
    }
    return true;
  });
  return element;

  function showPlan() {
    plan.replaceChildren(...(desk.plan ? planLines(desk.plan, wanted) : []));
  }
}

function fitButton(desk, wanted) {
  const fit = () => {
    const kernel = { name: wanted.name };
    if (wanted.medians !== 1 && !WITHOUT_WIDTH.includes(wanted.name)) kernel.medians = wanted.medians;
    const label = wanted.label === null ? {} : { label: wanted.label };
    desk.run({ model: wanted.model, kernel, q: wanted.q || null, center: true, ...label });
  };
  return h("div", { class: "ml-row" }, button("Fit all rows", fit));
}

/** The column of classes, from a list; names may be anything, so they are numbered. */
function labelChoice({ columns, label }, wanted, act) {
  const guess = wanted.label === null && label ? ` (${label})` : "";
  const options = [
    ["auto", `the first category${guess}`],
    ["none", "none"],
    ...columns.map((column, k) => [k, column.name]),
  ];
  const known = columns.findIndex(({ name }) => name === wanted.label);
  if (known < 0 && wanted.label) wanted.label = null; // of another file
  const value = known >= 0 ? known : wanted.label === null ? "auto" : "none";
  return choice("Column of classes", options, value, (key) => {
    wanted.label = key === "auto" ? null : key === "none" ? "" : columns[key].name;
    act();
  }).element;
}

/** What the fit would do with the columns, in words. */
function planLines({ rows, columns, label, labelLearnt, solver }, wanted) {
  const auto = wanted.label === null;
  const coloured = auto ? label : wanted.label;
  const aside = auto && labelLearnt ? null : coloured;
  const out = columns.filter((column) => column.left_out && column.name !== coloured);
  const learnt = columns.filter((column) => !column.left_out && column.name !== aside);
  const [, model] = MODELS.find(([key]) => key === wanted.model);
  const line = (head, text) => h("p", { class: "ml-sub" }, h("b", {}, `${head}: `), text);
  return [
    h("h3", {}, "What the fit will do"),
    line("Model", `${model}, ${countOf(wanted.q)}, ${rows.toLocaleString("en")} rows`),
    ...["number", "category", "date"].flatMap((kind) => {
      const some = learnt.filter((column) => column.kind === kind);
      return some.length ? [line(`Learns from ${counted(some.length, kind)}`, namesOf(some))] : [];
    }),
    ...(coloured
      ? [line("Colours by", aside ? `${coloured}, which it does not learn from` : coloured)]
      : []),
    ...(solver ? [line("Solver", solverWords(solver))] : []),
    ...out.slice(0, 8).map((column) => line("Leaves out", `${column.name}: ${column.left_out}`)),
  ];
}

function solverWords({ name, memory, time }) {
  return `${name}, ${memory} of memory${time ? `, ${time}` : ""}`;
}

function countOf(q) {
  return q ? `at most ${q} components` : "as many components as hold 95 % of the variance";
}

function counted(count, kind) {
  if (count === 1) return `1 ${kind}`;
  return `${count} ${kind === "category" ? "categories" : `${kind}s`}`;
}

function namesOf(columns) {
  const names = columns.slice(0, 8).map(({ name }) => name);
  return names.join(", ") + (columns.length > 8 ? ` and ${columns.length - 8} more` : "");
}

function knobs(wanted, act) {
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
  const model = choice("Estimator", MODELS, wanted.model, (key) => {
    wanted.model = key;
    act();
  });
  const kernel = choice("Kernel", KERNELS, wanted.name, (key) => {
    wanted.name = key;
    hide();
  });
  hide();
  const count = slider("Components", {
    min: 0,
    max: 100,
    step: 1,
    value: wanted.q,
    show: (q) => (q ? String(q) : "chosen from the data"),
    oninput: (q) => {
      wanted.q = q;
      act();
    },
  });
  return [model.element, kernel.element, width.element, count.element];
}
