// The rows as a table, in their owner's columns; linked with the map above it.

import { columnsOf, textOf, wordsFor } from "./columns.js";
import { button, h } from "./dom.js";
import { labelOf, rowNumber, rowOf, scoreAt } from "./model.js";
import { thumbnail } from "./pictures.js";

/** Rows of a page; columns of the table, and scores, that are shown. */
const [PAGE, COLUMNS, SCORES] = [50, 40, 3];

export function tablePanel(app) {
  const { state } = app;
  const body = h("tbody", { onpointerleave: () => point(null) });
  const head = h("tr");
  const table = h("table", { class: "ml-table ml-wide" }, h("thead", {}, head), body);
  const region = { tabIndex: 0, role: "region", "aria-label": "Table of the rows" };
  const below = h("div", { class: "ml-scroll ml-listing", ...region }, table);
  const where = h("p", { class: "ml-sub", role: "status" });
  const search = h("input", {
    type: "search",
    placeholder: "a word or a number",
    "aria-label": "Search the rows",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(find, 200);
    },
  });
  const take = button("Select these rows", () => app.select(state.found));
  const element = h(
    "div",
    {},
    h(
      "p",
      { class: "ml-lead" },
      "Click a heading to sort, or a row to see it on the map. A selection on the map filters the table.",
    ),
    h("div", { class: "ml-field ml-choice" }, h("label", {}, "Search"), search),
    where,
    h(
      "div",
      { class: "ml-row" },
      button("Previous", () => turn(-PAGE)),
      button("Next", () => turn(PAGE)),
      take,
    ),
  );
  let first = 0;
  let by = null; // { column, sign }
  let timer = null;
  let order = []; // rows, as they stand in the table
  let texts = null; // of each row of a model, for the search: { model, lines }
  app.on("selection", () => state.tab === "table" && arrange());
  app.on("model", () => state.tab === "table" && arrange());
  app.on("chosen", (i) => state.tab === "table" && i !== null && goTo(i));
  return { id: "table", title: "Table", element, below, enter: () => goTo(state.chosen), leave };

  function leave() {
    search.value = "";
    state.found = null;
    app.recolour();
  }

  /** The rows that hold what is searched for; on the map they stand out. */
  function find() {
    const word = search.value.trim().toLowerCase();
    const { current } = app;
    if (word && texts?.model !== current) {
      const cells = heads().filter(({ own }) => own);
      const line = (i) => cells.map(({ of }) => textOf(of(i))).join("\n").toLowerCase();
      texts = { model: current, lines: Array.from({ length: current.n }, (_, i) => line(i)) };
    }
    state.found = word ? [...texts.lines.keys()].filter((i) => texts.lines[i].includes(word)) : null;
    app.recolour();
    arrange();
  }

  /** @returns [{ name, of: row → value, own: a column of the reader's, picture? }] */
  function heads() {
    const { current } = app;
    const words = wordsFor(current);
    const pictured = current.pictures || (current.facts.imageShape && current.rows);
    const columns = current.rows && !current.facts.imageShape ? columnsOf(current) : [];
    return [
      { name: "row", of: (i) => rowNumber(current, i), own: true },
      ...(pictured ? [{ name: "picture", of: (i) => thumbnail(current, i), picture: true }] : []),
      ...(current.codes || current.values
        ? [{ name: current.codes ? "class" : "value", of: (i) => labelOf(current, i), own: true }]
        : []),
      ...columns
        .slice(0, COLUMNS)
        .map(({ name, of }) => ({ name, of: (i) => of(rowOf(current, i)), own: true })),
      { name: words.error, of: (i) => current.error[i] },
      { name: words.p, of: (i) => current.pValues[i], show: words.show },
      ...Array.from({ length: Math.min(current.scores.q, SCORES) }, (_, a) => ({
        name: `component ${a}`,
        of: (i) => scoreAt(current, i, a),
      })),
    ];
  }

  /** Which rows, in which order; from the first page. */
  function arrange() {
    const all = state.selection ?? Array.from({ length: app.current.n }, (_, i) => i);
    const found = state.found && new Set(state.found);
    order = found ? all.filter((i) => found.has(i)) : all;
    if (by) {
      const { of } = heads()[by.column];
      const values = new Map(order.map((i) => [i, of(i)]));
      const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      order = [...order].sort((a, b) => by.sign * compare(values.get(a), values.get(b)));
    }
    first = 0;
    show();
  }

  function turn(step) {
    const last = Math.max(0, order.length - 1);
    first = Math.min(Math.max(first + step, 0), PAGE * Math.floor(last / PAGE));
    show();
  }

  /** The page that holds a row, with that row in sight. */
  function goTo(i) {
    if (!order.includes(i)) arrange();
    first = PAGE * Math.floor(Math.max(order.indexOf(i), 0) / PAGE);
    show();
    const at = body.querySelector("[aria-current]")?.offsetTop ?? 0;
    // By hand: scrollIntoView would move the page around a frame, too.
    if (at < below.scrollTop + 40 || at > below.scrollTop + below.clientHeight - 40)
      below.scrollTop = at - below.clientHeight / 2;
  }

  function point(i) {
    app.map.hovered = i;
    app.emit("hover", i);
    app.map.draw();
  }

  function show() {
    const columns = heads();
    head.replaceChildren(...columns.map(heading));
    const page = order.slice(first, first + PAGE);
    body.replaceChildren(...page.map((i) => line(columns, i)));
    const kind = state.found ? " found" : state.selection ? " selected" : "";
    const range = page.length ? `${first + 1} to ${first + page.length} of ` : "";
    where.textContent = `${range}${order.length.toLocaleString("en")} rows${kind}`;
    take.hidden = !state.found?.length;
  }

  function heading({ name, picture }, column) {
    const sorted = by?.column === column ? (by.sign > 0 ? "ascending" : "descending") : "none";
    const sort = () => {
      by = { column, sign: by?.column === column ? -by.sign : 1 };
      arrange();
    };
    const inside = picture ? name : h("button", { type: "button", onclick: sort }, name);
    return h("th", { scope: "col", "aria-sort": sorted }, inside);
  }

  function line(columns, i) {
    const cells = columns.map(({ of, show: say = textOf }, column) =>
      column
        ? h("td", {}, say(of(i)) ?? "")
        : h(
            "th",
            { scope: "row" },
            button(of(i), () => app.choose(i), { class: "ml-button ml-chip" }),
          ),
    );
    const act = { onclick: () => app.choose(i), onpointerenter: () => point(i) };
    return h("tr", { ...act, "aria-current": i === state.chosen ? "true" : null }, cells);
  }
}
