// What stands around the panels: title, tabs, the tools of the map.

import { button, cssColour, h } from "./dom.js";
import { kernelText } from "./kernels.js";

export function makeHeader(app) {
  const { facts } = app.model;
  const words = h("p", {});
  const say = () => (words.textContent = wordsOn(app.adopted));
  say();
  app.on("model", say);
  const theme = button("◐", () => turnPaper(app), {
    class: "ml-button ml-theme",
    title: "Light or dark",
    "aria-label": "Switch between light and dark",
  });
  const notes = facts.notes.map((note) => h("p", { class: "ml-note" }, note));
  const text = h("div", {}, h("h1", {}, facts.title), words, notes);
  return h("header", { class: "ml-head" }, text, theme);
}

/** What the panels work with: a kernel, rows, components. */
function wordsOn({ facts, fitted, P, n, d }) {
  const many = (count) => count.toLocaleString("en");
  return [
    fitted ? `KernelPCA with ${kernelText(P.spec, 4)}` : `${facts.estimator} with ${facts.kernelText}`,
    `${many(n)} rows × ${facts.columns?.length ?? d} columns`,
    `${many(P.q)} components on ${many(P.m)} support points`,
  ].join(" · ");
}

/** Light paper or dark, whatever the system prefers. */
function turnPaper(app) {
  app.root.dataset.theme = cssColour(app.root, "--ml-dark") === "1" ? "light" : "dark";
  app.refresh(true);
  app.emit("model");
  if (app.state.probe) app.setProbe(app.state.probe);
}

/** Says that a fit of the page is used, with a way back. */
export function makeBadge(app) {
  const back = button("Back to the model", () => app.adopt(app.model));
  const words = h("span", {});
  const badge = h("p", { class: "ml-badge", hidden: true, role: "status" }, words, back);
  app.on("model", () => {
    const { fitted, P } = app.adopted;
    badge.hidden = !fitted;
    const n = app.model.n.toLocaleString("en");
    const rows = P.m < app.model.n ? `${P.m} of the ${n} rows` : `all ${n} rows`;
    words.textContent = `You are using a fit made in this page, to ${rows}.`;
  });
  return badge;
}

/** Says on the map that it shows a trial: over it, so that nothing moves under the hand. */
export function makeTrialMark(app) {
  const mark = h("p", { class: "ml-trial", hidden: true, role: "status" });
  app.on("model", () => {
    mark.hidden = app.current === app.adopted;
    mark.textContent = `A trial, fitted to ${app.current.n} rows`;
  });
  return mark;
}

export function makeTabs(app, panels) {
  const tabs = panels.map(({ id, title }) => {
    const act = () => app.show(id);
    const names = { role: "tab", id: `ml-tab-${id}`, "aria-controls": "ml-panel" };
    return h("button", { type: "button", class: "ml-tab", onclick: act, ...names }, title);
  });
  const walk = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = panels.findIndex((panel) => panel.id === app.state.tab);
    const next = (at + step + panels.length) % panels.length;
    app.show(panels[next].id);
    tabs[next].focus();
  };
  const names = { role: "tablist", "aria-label": "What to do", onkeydown: walk };
  const element = h("div", { class: "ml-tabs", ...names }, tabs);
  return {
    element,
    mark(panel) {
      // By hand: scrollIntoView would move the page around a frame, too.
      element.scrollLeft = tabs[panels.indexOf(panel)].offsetLeft - element.offsetLeft - 60;
      tabs.forEach((tab, k) => {
        tab.setAttribute("aria-selected", panels[k] === panel);
        tab.tabIndex = panels[k] === panel ? 0 : -1;
      });
    },
  };
}

export function makeTools(map) {
  const set = (mode) => {
    map.mode = mode;
    lasso.setAttribute("aria-pressed", mode === "lasso");
  };
  const lasso = button("Lasso", () => set(map.mode === "lasso" ? "pan" : "lasso"), {
    "aria-pressed": "false",
    title: "Draw around points to select them (or hold Shift and drag)",
  });
  map.endLasso = () => set("pan"); // one lasso, and the hand pans again
  const zoom = (factor) => () => map.zoomAt(map.width / 2, map.height / 2, factor);
  return h(
    "div",
    { class: "ml-tools" },
    lasso,
    button("+", zoom(1.3), { "aria-label": "zoom in" }),
    button("−", zoom(1 / 1.3), { "aria-label": "zoom out" }),
    button("All", () => map.fit(), { title: "Show all points" }),
  );
}
