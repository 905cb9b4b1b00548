// The single file: unpack what lies in the page, and mount it. The same text, run as a worker,
// serves fits.

import { mount } from "./app.js";
import { unpack } from "./numbers.js";
import { serve } from "./worker.js";

export async function start() {
  if (typeof document === "undefined") {
    serve(globalThis);
    return;
  }
  const text = (id) => document.getElementById(id).textContent;
  const element = document.getElementById("mercer-live");
  try {
    const facts = JSON.parse(text("mercer-facts"));
    const arrays = await unpack(facts, text("mercer-numbers"));
    const worker = () => {
      const url = URL.createObjectURL(new Blob([text("mercer-code")], { type: "text/javascript" }));
      return new Worker(url);
    };
    const canvas = new URLSearchParams(location.hash.slice(1)).get("canvas");
    globalThis.mercerLive = mount(element, { facts, arrays }, { worker, fragment: true, canvas });
    globalThis.mercerLive.loaded = performance.now();
  } catch (problem) {
    element.textContent = `This page could not start: ${problem.message}. A current browser is needed.`;
    throw problem;
  }
}
