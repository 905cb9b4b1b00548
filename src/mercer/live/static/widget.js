// The notebook: an anywidget. Selections go to Python, and come from there.

import { mount } from "./app.js";
import { inflate } from "./numbers.js";
import { serve } from "./worker.js";

// The same text, run as a worker, serves fits.
if (typeof document === "undefined") serve(globalThis);

async function render({ model, el }) {
  const facts = model.get("facts");
  const { buffer, byteOffset, byteLength } = model.get("numbers");
  const arrays = await inflate(facts, new Uint8Array(buffer, byteOffset, byteLength));
  el.classList.add("ml-widget");
  let told = "[]";
  const onSelect = (rows) => {
    const next = Array.from(rows ?? []);
    told = JSON.stringify(next);
    model.set("selection", next);
    model.save_changes();
  };
  const worker = () => makeWorker(model.get("_esm"));
  const handle = mount(el, { facts, arrays }, { worker, onSelect });
  const hear = () => {
    const rows = model.get("selection") ?? [];
    if (JSON.stringify(rows) === told) return; // our own word
    handle.select(rows.length ? rows : null);
  };
  hear();
  model.on("change:selection", hear);
  return () => {
    model.off("change:selection", hear);
    handle.destroy();
  };
}

/** A worker of our own text; where the notebook forbids or hides that, the page itself. */
function makeWorker(text) {
  if (typeof text === "string" && text.length > 1000) {
    try {
      const code = text.replace(/^export default .*$/m, "");
      return new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    } catch {
      // the notebook's policy
    }
  }
  const scope = { postMessage: (data) => here.onmessage({ data }) };
  const here = {
    postMessage: (data) => setTimeout(() => scope.onmessage({ data })),
    terminate() {},
  };
  serve(scope);
  return here;
}

export const widget = { render };
