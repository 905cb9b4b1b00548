// The page with Python behind it: files are sent there, large fits come back as models. The same
// text, run as a worker, serves fits of the page itself.

import { mount } from "./app.js";
import { makeDesk } from "./desk.js";
import { h } from "./dom.js";
import { dataForm } from "./panel_data.js";
import { serve } from "./worker.js";

export async function start() {
  if (typeof document === "undefined") {
    serve(globalThis);
    return;
  }
  const element = document.getElementById("mercer-live");
  const desk = makeDesk(new URLSearchParams(location.search).get("token"));
  const options = {
    fragment: true,
    worker: () => new Worker(document.getElementById("mercer-code").src),
    panels: [(app) => ({ id: "data", title: "Data", element: dataForm(desk, app) })],
  };
  desk.show = (model) => {
    document.title = model.facts.title;
    if (globalThis.mercerLive) {
      // The state in the address is that of the model before.
      clearTimeout(globalThis.mercerLive.app.hashTimer);
      history.replaceState(null, "", "#tab=map");
      globalThis.mercerLive.setModel(model);
    } else globalThis.mercerLive = mount(element, model, options, desk);
  };
  globalThis.mercerDesk = desk;
  dropFiles(desk);
  empty(element, desk);
  try {
    const first = await desk.ask("start");
    if (first) await desk.take(first);
  } catch (problem) {
    desk.say(problem.message);
  }
}

/** Nothing to show yet: the form alone. */
function empty(element, desk) {
  const lead = h("p", {}, "Drop a table, a zip file of PNG images or a model (.mercer) onto this page.");
  const head = h("header", { class: "ml-head" }, h("div", {}, h("h1", {}, "mercer explore"), lead));
  const side = h("div", { class: "ml-side ml-alone" }, dataForm(desk, null));
  element.replaceChildren(h("div", { class: "ml" }, head, side));
}

function dropFiles(desk) {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) desk.upload(file);
  });
}
