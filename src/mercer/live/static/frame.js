// What stands around the panels: title, tabs, the tools of the map.

import { button, cssColour, h } from "./dom.js";

export function makeHeader(app) {
  const { facts, P, n, d } = app.model;
  const many = (count) => count.toLocaleString("en");
  const words = [
    facts.kernelText,
    `${many(n)} rows × ${facts.columns?.length ?? d}`,
    `${P.q} components on ${many(P.m)} support points`,
  ].join(" · ");
  const theme = button("◐", () => turnPaper(app), {
    class: "ml-button ml-theme",
    title: "Light or dark",
    "aria-label": "Change between light and dark",
  });
  const notes = facts.notes.map((note) => h("p", { class: "ml-note" }, note));
  const text = h("div", {}, h("h1", {}, facts.title), h("p", {}, words), notes);
  return h("header", { class: "ml-head" }, text, theme);
}

/** Light paper or dark, whatever the system prefers. */
function turnPaper(app) {
  app.root.dataset.theme = cssColour(app.root, "--ml-dark") === "1" ? "light" : "dark";
  app.refresh(true);
  app.emit("model");
  if (app.state.probe) app.setProbe(app.state.probe);
}

/** Says that the map shows a fit of the page, with a way back. */
export function makeBadge(app) {
  const back = button("Back to the model", () => {
    app.state.fit = null;
    app.use(app.model);
  });
  return h("p", { class: "ml-badge", hidden: true }, "You see a fit made in this page. ", back);
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
  const lasso = button(
    "Lasso",
    () => {
      map.mode = map.mode === "lasso" ? "pan" : "lasso";
      lasso.setAttribute("aria-pressed", map.mode === "lasso");
    },
    { "aria-pressed": "false", title: "Draw round points to select them (or hold shift)" },
  );
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
