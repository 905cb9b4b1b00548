// The same rows as a table, for eyes and readers that a map does not serve.

import { columnsOf } from "./columns.js";
import { button, h } from "./dom.js";
import { formatNumber, labelOf, rowNumber, rowOf, scoreAt } from "./model.js";

const PAGE = 50;

export function tablePanel(app) {
  const { state } = app;
  const body = h("tbody");
  const head = h("tr");
  const table = h(
    "table",
    { class: "ml-table ml-wide" },
    h("caption", { class: "ml-sub" }, "Rows with their scores"),
    h("thead", {}, head),
    body,
  );
  const centre = h(
    "div",
    { class: "ml-scroll", tabIndex: 0, role: "region", "aria-label": "Table of the rows" },
    table,
  );
  const where = h("p", { class: "ml-sub", role: "status" });
  const element = h("div", {});
  let first = 0;
  let by = null;
  element.append(
    h(
      "p",
      { class: "ml-lead" },
      "The rows as a table. Press a heading to sort; a lasso on the map narrows it to what is selected.",
    ),
    where,
    h(
      "div",
      { class: "ml-row" },
      button("Back", () => turn(-PAGE)),
      button("On", () => turn(PAGE)),
    ),
  );
  app.on("selection", () => {
    first = 0;
    if (state.tab === "table") show();
  });
  return { id: "table", title: "Table", element, centre, enter: show };

  function turn(step) {
    const last = Math.max(0, rowsShown().length - 1);
    first = Math.min(Math.max(first + step, 0), PAGE * Math.floor(last / PAGE));
    show();
  }

  function rowsShown() {
    return state.selection ?? Array.from({ length: app.current.n }, (_, i) => i);
  }

  function columns() {
    const { current } = app;
    const count = Math.min(current.scores.q, 4);
    const named = columnsOf(current);
    const values =
      current.rows && named.length <= 8
        ? named.map(({ name, of }) => [name, (i) => of(rowOf(current, i))])
        : [];
    return [
      ["row", (i) => rowNumber(current, i)],
      ...(current.codes || current.values ? [["label", (i) => labelOf(current, i)]] : []),
      ...Array.from({ length: count }, (_, a) => [`z${a}`, (i) => scoreAt(current, i, a)]),
      ["error", (i) => current.error[i]],
      [current.facts.novelty.heldOut ? "p-value" : "rank", (i) => current.pValues[i]],
      ...values,
    ];
  }

  function show() {
    const heads = columns();
    let rows = rowsShown();
    if (by) {
      const value = heads[by.column][1];
      rows = [...rows].sort(
        (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * by.sign,
      );
    }
    head.replaceChildren(
      ...heads.map(([name], column) => {
        const order = by?.column === column ? (by.sign > 0 ? "ascending" : "descending") : "none";
        return h(
          "th",
          { scope: "col", "aria-sort": order },
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                by = { column, sign: by?.column === column ? -by.sign : 1 };
                first = 0;
                show();
              },
            },
            name,
          ),
        );
      }),
    );
    const page = rows.slice(first, first + PAGE);
    body.replaceChildren(
      ...page.map((i) =>
        h(
          "tr",
          { onclick: () => app.choose(i) },
          heads.map(([, value], column) => {
            const cell = value(i);
            const text = typeof cell === "number" ? formatNumber(cell) : cell;
            return column
              ? h("td", {}, text)
              : h(
                  "th",
                  { scope: "row" },
                  button(text, () => app.choose(i), { class: "ml-button ml-chip" }),
                );
          }),
        ),
      ),
    );
    const of = `${rows.length.toLocaleString("en")}${state.selection ? " selected" : ""}`;
    where.textContent = `${first + 1} to ${first + page.length} of ${of} rows`;
  }
}
