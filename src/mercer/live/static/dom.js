// Elements without HTML: everything that comes from data is set as text.

/** h("div", { class: "x", onclick: f }, "text", element, …) */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.includes("-") && name !== "list") element[name] = value;
    else element.setAttribute(name === "class" ? "class" : name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

let count = 0;

/** A labelled slider that shows its value; `show` turns the number into words. */
export function slider(label, { min, max, step, value, show = String, mark = null, oninput }) {
  const id = `ml-${++count}`;
  const output = h("output", { htmlFor: id });
  const input = h("input", { type: "range", id, min, max, step, value });
  const say = () => {
    output.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    say();
    oninput(Number(input.value));
  });
  say();
  const tick =
    mark === null ? null : h("span", { class: "ml-mark", "aria-hidden": "true" }, mark.text);
  if (tick) tick.style.setProperty("--at", (mark.at - min) / (max - min));
  const element = h(
    "div",
    { class: "ml-field" },
    h("label", { htmlFor: id }, label),
    output,
    input,
    tick,
  );
  return {
    element,
    input,
    set(next) {
      input.value = next;
      say();
    },
    range(low, high) {
      [input.min, input.max] = [low, high];
      say();
    },
    get value() {
      return Number(input.value);
    },
  };
}

/** A labelled choice; options are [value, text]. */
export function choice(label, options, value, onchange) {
  const id = `ml-${++count}`;
  const list = options.map(([key, text]) =>
    h("option", { value: key, selected: String(key) === String(value) }, text),
  );
  const input = h("select", { id, onchange: () => onchange(input.value) }, list);
  const element = h(
    "div",
    { class: "ml-field ml-choice" },
    h("label", { htmlFor: id }, label),
    input,
  );
  return { element, input };
}

export function toggle(label, checked, onchange) {
  const id = `ml-${++count}`;
  const input = h("input", {
    type: "checkbox",
    id,
    checked,
    onchange: () => onchange(input.checked),
  });
  return {
    element: h("div", { class: "ml-field ml-toggle" }, input, h("label", { htmlFor: id }, label)),
    input,
  };
}

export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", class: "ml-button", onclick, ...properties }, text);
}

/** A canvas sized for the screen's own pixels, drawn again when its box changes. */
export function drawing(draw, properties = {}) {
  const canvas = h("canvas", properties);
  const redraw = () => {
    const box = canvas.getBoundingClientRect();
    if (!box.width || !box.height) return;
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    draw(context, box.width, box.height);
  };
  new ResizeObserver(redraw).observe(canvas);
  return { canvas, redraw };
}

/** Give the reader a file. */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A colour of the style sheet, for canvases. */
export function cssColour(element, name) {
  return getComputedStyle(element).getPropertyValue(name).trim() || "#888";
}
