// The rows played as a stream: the evidence of the detector's monitor, row by row, and its alarm.

import { button, cssColour, drawing, h, slider } from "./dom.js";
import { rowNumber } from "./model.js";

const SECONDS = 6;

/** The player of a page that has a stream; null otherwise. */
export function streamPlayer(app) {
  const { model } = app;
  const { stream } = model.facts;
  if (!stream) return null;
  const { evidence, n } = model;
  const bar = Math.log(1 / stream.level);
  const [low, top] = [Math.min(0, ...range(evidence)), Math.max(1.2 * bar, ...range(evidence))];
  let began = null;
  const said = h("p", { class: "ml-verdict", "aria-live": "polite" });
  const chart = drawing(draw, {
    class: "ml-chart ml-tall",
    role: "img",
    "aria-label": "Evidence that the stream has changed, with the limit of an alarm",
  });
  const place = slider("Rows played", {
    min: 0,
    max: n,
    step: 1,
    value: n,
    show: (v) => v.toLocaleString("en"),
    oninput: () => {
      stop();
      show();
    },
  });
  const play = button("Play the rows as a stream", () => (began === null ? start() : stop()));
  show();
  return h(
    "section",
    { class: "ml-stream" },
    h("h3", {}, "As a stream"),
    h(
      "p",
      { class: "ml-sub" },
      "Each row is compared with all rows before it. The curve is the evidence that the rows have ",
      `changed; it reaches the line by mistake in at most ${100 * stream.level} % of all streams.`,
    ),
    play,
    place.element,
    chart.canvas,
    said,
  );

  function start() {
    const from = place.value < n ? place.value : 0;
    began = performance.now() - (1000 * SECONDS * from) / n;
    play.textContent = "Pause";
    requestAnimationFrame(step);
  }

  function stop() {
    began = null;
    play.textContent = "Play the rows as a stream";
  }

  function step(now) {
    if (began === null) return;
    const before = place.value;
    place.set(Math.min(n, Math.round((n * (now - began)) / (1000 * SECONDS))));
    const { alarm } = stream;
    if (alarm !== null && before <= alarm && alarm < place.value) app.choose(alarm);
    if (place.value >= n) stop();
    show();
    if (began !== null) requestAnimationFrame(step);
  }

  function show() {
    const { alarm } = stream;
    const name = (i) => `row ${rowNumber(model, i)}`;
    said.textContent =
      alarm !== null && alarm < place.value
        ? `Alarm at ${name(alarm)}: “${stream.statistic}” has changed, most likely since ${name(stream.since)}.`
        : "No alarm so far.";
    chart.redraw();
  }

  function draw(context, width, height) {
    const x = (i) => (width * i) / Math.max(n, 2);
    const y = (value) => height - 2 - ((height - 4) * (value - low)) / (top - low);
    context.fillStyle = cssColour(chart.canvas, "--ml-line");
    context.fillRect(0, y(bar), width, 1);
    context.fillStyle = cssColour(chart.canvas, "--ml-ink");
    context.font = "11px system-ui, sans-serif";
    context.fillText("alarm", 2, y(bar) - 4);
    context.strokeStyle = cssColour(chart.canvas, "--ml-warm");
    context.lineWidth = 1.5;
    context.beginPath();
    for (let i = 0; i < place.value; i++) context.lineTo(x(i), y(evidence[i]));
    context.stroke();
  }
}

/** The least and the largest value, of arrays too long for Math.min. */
function range(values) {
  return values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [0, 0]);
}
