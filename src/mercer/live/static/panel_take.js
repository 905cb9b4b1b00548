// Take away: a picture, the numbers, the lines that repeat the view, and a link.

import { button, download, h } from "./dom.js";
import { csvOf } from "./selection.js";
import { isRadial, kernelText } from "./kernels.js";
import { kernelOf } from "./panel_knobs.js";

export function takePanel(app) {
  const { state, model } = app;
  const python = h("pre", { tabIndex: 0, "aria-label": "Python code that reproduces the view" });
  const command = h("pre", { tabIndex: 0, "aria-label": "Commands that reproduce the view" });
  const element = h(
    "div",
    {},
    h("p", { class: "ml-lead" }, "What you see, to keep or to share."),
    h(
      "div",
      { class: "ml-row" },
      button("Picture (PNG)", async () => download("map.png", await app.map.picture())),
      button("Scores (CSV)", () => {
        const rows = state.selection ?? Array.from({ length: app.current.n }, (_, i) => i);
        download("scores.csv", new Blob([csvOf(app.current, rows)], { type: "text/csv" }));
      }),
      app.backend?.save
        ? button("Model (.mercer)", async () => download("model.mercer", await app.backend.save()))
        : "",
      button("Copy link", () => copy(globalThis.location.href)),
    ),
    h("h3", {}, "In Python"),
    python,
    h(
      "div",
      { class: "ml-row" },
      button("Copy", () => copy(python.textContent)),
    ),
    h("h3", {}, "On the command line"),
    command,
    h(
      "div",
      { class: "ml-row" },
      button("Copy", () => copy(command.textContent)),
    ),
  );
  return { id: "take", title: "Take away", element, enter: show };

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      app.say("copied");
    } catch {
      app.say("the browser did not allow copying; select the text instead");
    }
  }

  function show() {
    python.textContent = pythonLines(app);
    command.textContent = commandLines(model, app.current.fitted);
  }
}

export function pythonLines({ state, current, model }) {
  const lines = ["import mercer", "import numpy as np", ""];
  if (current.fitted) {
    const { name, width, q, center } = current.fitted;
    const spec = kernelOf(name, width, model);
    const few =
      current.P.m < model.n
        ? `[np.floor(np.linspace(0, len(X) - 1, ${current.P.m})).astype(int)]`
        : "";
    lines.push(
      `from mercer.kernels import ${spec.class}`,
      "",
      `kernel = ${kernelText(spec)}`,
      `model = mercer.KernelPCA(${q}, kernel=kernel, center=${center ? "True" : "False"}).fit(X${few})  # X: your rows`,
    );
  } else {
    lines.push('model = mercer.load("model.mercer")  # where you saved it');
    if (model.facts.columns) {
      lines.push("X = model.vectors(table)  # of your table", "model = model.model_");
    }
  }
  const subspace =
    model.facts.estimator === "KernelNovelty" && !current.fitted
      ? "model.score_.subspace"
      : "model.subspace_";
  lines.push(`Z = ${subspace}.scores(X)[:, [${state.x}, ${state.y}]]  # the map`);
  if (state.probe) {
    const solver = isRadial(current.P.spec) ? "FixedPoint" : "Auto";
    lines.push(
      "",
      `from mercer.preimage import ${solver}`,
      "",
      `z = np.array([[${Array.from(state.probe, (v) => Number(v.toPrecision(6))).join(", ")}]])`,
      `x = ${solver}().init(${subspace}).solve(z).points  # the probe's picture`,
    );
  }
  return lines.join("\n");
}

function commandLines(model, fit) {
  const lines = [];
  if (fit) {
    const { kernel, inside } = commandKernel(fit, model);
    if (!fit.center) lines.push("# the command line always centres; in Python: center=False");
    lines.push(
      `mercer fit rows.csv --kernel ${kernel}${inside} --components ${fit.q} -o model.mercer`,
    );
  }
  lines.push(
    "mercer transform model.mercer rows.csv -o scores.csv",
    "mercer plot live model.mercer rows.csv -o live.html",
  );
  return lines.join("\n");
}

function commandKernel({ name, width }, model) {
  const { length, gamma } = kernelOf(name, width, model);
  const number = (value) => value.toPrecision(6);
  const inside =
    {
      gaussian: () => `:width=${number(length)}`,
      laplacian: () => `:gamma=${number(gamma)}`,
      polynomial: () => `:degree=3,gamma=${number(gamma)}`,
      linear: () => "",
      cosine: () => "",
    }[name] ?? (() => `:length_scale=${number(length)}`);
  return { kernel: name, inside: inside() };
}
