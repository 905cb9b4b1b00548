// Knobs: kernel, width, components, centring; while they turn, the map shows a trial.

import { latest } from "./client.js";
import { button, choice, h, slider, toggle } from "./dom.js";
import { evenly } from "./fit.js";
import { plainSpec } from "./kernels.js";
import { fittedModel, formatNumber, onAllRows, scoreAt } from "./model.js";
import { columnChart } from "./pictures.js";

/** Rows that a page fits while a hand moves; more go to Python. */
export const MOST_ROWS = 400;
export const KERNELS = [
  ["gaussian", "Gaussian"],
  ["matern", "Matérn 3/2"],
  ["cauchy", "Cauchy"],
  ["rational_quadratic", "Rational quadratic"],
  ["laplacian", "Laplacian"],
  ["polynomial", "Polynomial, degree 3"],
  ["linear", "Linear (PCA)"],
  ["cosine", "Cosine"],
];
export const WITHOUT_WIDTH = ["linear", "cosine"];

/** The description of a kernel whose width is `width` medians. */
export function kernelOf(name, width, { facts, d }) {
  return widened(facts.kernels[name], width * facts.median, d);
}

/** The same kernel with another length. */
export function widened(spec, length, d) {
  if (WITHOUT_WIDTH.includes(spec.name)) return spec;
  if (spec.of === "distance") return { ...spec, length, scale: -1 / (length * length) };
  if (spec.of === "dot") return { ...spec, gamma: length ** -2, scale: length ** -2 };
  const gamma = 1 / (length * Math.sqrt(d));
  return { ...spec, gamma, scale: -gamma };
}

export function knobsPanel(app) {
  const { model, state } = app;
  const usable = model.rows && model.facts.median;
  const rows = usable ? evenly(model.rows, MOST_ROWS) : null;
  const most = usable ? Math.min(Math.max(30, model.P.q), rows.m - 1) : 1;
  const words = h("p", { class: "ml-verdict", role: "status" });
  const figures = h("dl", { class: "ml-facts" });
  const scree = columnChart("Shares of the true variance by component");
  const element = h("div", {});
  const decide = h(
    "div",
    { class: "ml-row" },
    button("Use this fit", () => adoptTrial()),
    button("Put it away", () => putAway()),
  );
  let knobs = { ...(state.fit ?? startFrom(model, most)) };
  let trial = null;
  let round = 0; // answers of a trial that was put away come too late
  const run = latest((wanted) => fit(wanted, true));
  if (!usable)
    element.append(
      h("p", { class: "ml-lead" }, "The file contains no rows to fit: pass a smaller X to to_html."),
    );
  app.fitRows = rows;
  app.fitterReady = () =>
    (app.fitter ??= app.client().ask({
      rows: { data: rows.data, m: rows.m, d: rows.d },
      start: scoresOf(model, rows.index),
    }));
  app.refit = (next) => run(Object.assign(knobs, next));
  app.adoptTrial = adoptTrial;
  app.on("model", () => {
    if (state.tab !== "knobs" || app.current !== app.adopted) return;
    build();
    show();
  });
  return { id: "knobs", title: "Knobs", element, enter: () => usable && enter(), leave };

  function enter() {
    build();
    if (trial) app.use(trial);
    else if (state.fit && !state.used) run(knobs); // a link to a trial
    show();
  }

  /** A trial is seen here alone. */
  function leave() {
    clearTimeout(app.restTimer);
    if (app.current !== app.adopted) app.use(app.adopted);
  }

  function build() {
    knobs = { ...(trial?.fitted ?? state.fit ?? startFrom(model, most)) };
    const width = slider("Width", {
      min: -4,
      max: 4,
      step: 0.02,
      value: Math.log2(knobs.width),
      mark: { at: 0, text: "median" },
      show: (v) => `${formatNumber(2 ** v)} × median`,
      oninput: (v) => change({ width: 2 ** v }),
    });
    const kernel = choice("Kernel", KERNELS, knobs.name, (name) => {
      width.element.hidden = WITHOUT_WIDTH.includes(name);
      change({ name });
    });
    width.element.hidden = WITHOUT_WIDTH.includes(knobs.name);
    const count = slider("Components", {
      min: 1,
      max: most,
      step: 1,
      value: knobs.q,
      oninput: (q) => change({ q }),
    });
    const centring = toggle("Centre in feature space", knobs.center, (center) =>
      change({ center }),
    );
    const few = rows.m < model.n ? `${rows.m} of the ${model.n.toLocaleString("en")}` : `all ${rows.m}`;
    element.replaceChildren(
      h(
        "p",
        { class: "ml-lead" },
        `Turn a knob to try another fit to ${few} rows. The model stays as it is until you adopt the trial.`,
      ),
      kernel.element,
      width.element,
      count.element,
      centring.element,
      decide,
      words,
      h("h3", {}, "Shares of the true variance"),
      scree.element,
      figures,
      app.backend?.fit
        ? h(
            "div",
            { class: "ml-row" },
            button("Fit all rows", () => fitAll()),
          )
        : "",
    );
  }

  function change(next) {
    Object.assign(knobs, next);
    run(knobs);
  }

  /** @param rough to three digits while the hand moves; when it rests, to eight */
  async function fit(wanted, rough) {
    const mine = round;
    await app.fitterReady();
    const kernel = kernelOf(wanted.name, wanted.width, model);
    const request = { kernel, q: wanted.q, center: wanted.center, rough };
    const found = await app.client().ask({ fit: request });
    if (mine !== round) return;
    trial = fittedModel(model, rows, found, { ...wanted });
    trial.verdict = verdict(found, kernel);
    trial.milliseconds = found.milliseconds;
    app.fits = (app.fits ?? 0) + 1;
    if (state.tab !== "knobs") return;
    [state.fit, state.used] = [trial.fitted, false];
    app.use(trial);
    show();
    clearTimeout(app.restTimer);
    if (rough) app.restTimer = setTimeout(() => rest({ ...wanted }), 250);
  }

  /** The hand has rested: exact components, and the error in input space. */
  async function rest(wanted) {
    await fit(wanted, false);
    const { inputError: error } = await app.client().ask({ inputError: true });
    figures.append(
      h("dt", {}, "error"),
      h("dd", { class: "ml-input-error" }, `${formatNumber(error)} (mean squared, input space)`),
    );
  }

  /** The trial becomes what every panel works with. */
  async function adoptTrial() {
    clearTimeout(app.restTimer);
    await fit({ ...knobs }, false);
    const next = onAllRows(model, trial);
    trial = null;
    app.adopt(next);
  }

  function putAway() {
    clearTimeout(app.restTimer);
    [trial, round] = [null, round + 1];
    app.adopt(app.adopted);
  }

  function show() {
    const { shares, verdict: said, milliseconds } = app.current;
    decide.hidden = !trial;
    scree.show(shares ?? [], shares?.length ?? 0);
    words.textContent = said ?? "";
    const kept = shares?.reduce((a, b) => a + b, 0);
    const lines = [
      ...(shares ? [["kept", `${(100 * kept).toFixed(1)} % of the variance`]] : []),
      ...(milliseconds ? [["time", `${milliseconds.toFixed(0)} ms`]] : []),
    ];
    figures.replaceChildren(
      ...lines.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]),
    );
  }

  async function fitAll() {
    const kernel = plainSpec(kernelOf(knobs.name, knobs.width, model));
    app.say("fitting all rows …");
    const { q, center } = knobs;
    try {
      const told = (share) => app.say(`${Math.round(100 * share)} %`);
      app.replace(await app.backend.fit({ kernel, q, center }, told));
    } catch (problem) {
      app.say(problem.message);
    }
  }
}

/** The model's own scores of some rows: fits begin there, and keep its signs. */
function scoresOf(model, index) {
  const q = Math.min(model.scores.q, 14);
  return Float64Array.from({ length: index.length * q }, (_, k) =>
    scoreAt(model, index[Math.floor(k / q)], k % q),
  );
}

/** The knobs that come nearest to the model of the file. */
function startFrom(model, most) {
  const { kernel, median, centred } = model.facts;
  const name = KERNELS.some(([key]) => key === kernel.name) ? kernel.name : "gaussian";
  let width = kernel.length ? kernel.length / median : 1;
  if (name === "laplacian") width = 1 / (kernel.gamma * Math.sqrt(model.d) * median);
  if (name === "polynomial") width = 1 / (Math.sqrt(kernel.gamma) * median);
  return {
    name,
    width: Math.min(Math.max(width, 1 / 16), 16) || 1,
    q: Math.min(model.P.q, most),
    center: centred,
  };
}

/** Plain words about a width. */
export function verdict(found, kernel) {
  const { mostAlike, leastAlike, shares } = found;
  if (mostAlike === undefined || kernel.name === "linear" || kernel.name === "cosine") return "";
  if (mostAlike < 0.02)
    return "Too narrow: this kernel sees every row as isolated, and the components are single rows. Widen it.";
  if (mostAlike < 0.15)
    return "Narrow: only close neighbours are similar. Components follow small groups.";
  if (leastAlike > 0.97)
    return "Too wide: this kernel sees all rows as alike, and what remains is linear PCA. Narrow it.";
  if (leastAlike > 0.8) return "Wide: nearly linear PCA.";
  return shares[0] > 0.9
    ? "One component holds nearly everything."
    : "A sensible width: nearby rows are similar, distant ones are not.";
}
