// Drag: a place of the map, or sliders of the leading components; its pre-image follows the hand.

import { button, choice, h, slider } from "./dom.js";
import { deviations, formatNumber, rowNumber } from "./model.js";
import { makePicture } from "./pictures.js";
import { preimage } from "./preimage.js";

const SLIDERS = 6;
const STRIP = 9;
/** How far sliders and strips go, in standard deviations of the scores. */
const SPAN = 2.5;

export function dragPanel(app) {
  const { state } = app;
  const sliders = h("div", {});
  const walkBox = h("div", {});
  const drawBox = h("div", {});
  const strip = h("div", {
    class: "ml-strip",
    role: "group",
    "aria-label": "Pre-images along a component",
  });
  const stripChoice = h("div", {});
  const element = h(
    "div",
    {},
    h(
      "p",
      { class: "ml-lead" },
      "Drag the round handle on the map, or move a slider. ",
      "The picture is the point in input space whose image is nearest.",
    ),
    sliders,
    walkBox,
    drawBox,
  );
  const below = h("div", { class: "ml-below" }, stripChoice, strip);
  let along = 0;
  let controls = [];
  let tiles = [];
  let stripTimer = null;

  app.on("model", () => state.tab === "drag" && build());
  app.on("probe", () => {
    if (state.tab !== "drag") return;
    const unit = deviations(app.current);
    controls.forEach((control, a) => {
      if (document.activeElement !== control.input) control.set(state.probe[a] / unit[a]);
    });
    clearTimeout(stripTimer);
    stripTimer = setTimeout(showStrip, 120);
  });
  app.on("chosen", showWalk);
  return { id: "drag", title: "Drag", element, below, enter };

  function enter() {
    build();
    if (!state.probe) app.setProbe(app.place(state.chosen ?? 0));
    else app.setProbe(state.probe);
    showWalk();
    showStrip();
  }

  function build() {
    const model = app.current;
    const unit = deviations(model);
    const count = Math.min(SLIDERS, model.scores.q);
    controls = Array.from({ length: count }, (_, a) =>
      slider(`component ${a}`, {
        min: -SPAN,
        max: SPAN,
        step: 0.01,
        value: 0,
        show: (v) => `${v.toFixed(2)} σ`,
        oninput: (v) => {
          const z = Float64Array.from(state.probe);
          z[a] = v * unit[a];
          app.setProbe(z);
        },
      }),
    );
    sliders.replaceChildren(
      ...controls.map((control) => control.element),
      h(
        "div",
        { class: "ml-row" },
        button("To the mean", () => app.setProbe(new Float64Array(app.current.P.q))),
      ),
    );
    stripChoice.replaceChildren(
      choice(
        "Strip along",
        controls.map((_, a) => [a, `component ${a}`]),
        along,
        (value) => {
          along = Number(value);
          showStrip();
        },
      ).element,
    );
    along = Math.min(along, count - 1);
    tiles = Array.from({ length: STRIP }, (_, k) => {
      const picture = makePicture(model, `step ${k + 1} of ${STRIP}`);
      return { picture, caption: h("figcaption") };
    });
    strip.replaceChildren(
      ...tiles.map(({ picture, caption }) => h("figure", {}, picture.element, caption)),
    );
    showDraws();
  }

  /** Pre-images from -2.5σ to 2.5σ through the probe. */
  function showStrip() {
    if (state.tab !== "drag" || !state.probe) return;
    const unit = deviations(app.current)[along];
    tiles.forEach(({ picture, caption }, k) => {
      const place = SPAN * ((2 * k) / (STRIP - 1) - 1);
      const z = Float64Array.from(state.probe);
      z[along] = place * unit;
      picture.show(preimage(app.current.P, z).point);
      caption.textContent = `${place > 0 ? "+" : ""}${place.toFixed(1)} σ`;
    });
  }

  /** Walk between two chosen rows. */
  function showWalk() {
    const [a, b] = state.walk;
    const name = (i) => (i === null ? "none" : `row ${rowNumber(app.current, i)}`);
    const set = (k) => () => {
      state.walk[k] = state.chosen;
      showWalk();
    };
    const none = state.chosen === null;
    const parts = [
      h("h3", {}, "Walk between two rows"),
      h(
        "div",
        { class: "ml-row" },
        button(`From: ${name(a)}`, set(0), { disabled: none }),
        button(`To: ${name(b)}`, set(1), { disabled: none }),
      ),
    ];
    if (none) parts.push(h("p", { class: "ml-sub" }, "Choose a row on the map first."));
    if (a !== null && b !== null && a !== b) {
      const [za, zb] = [app.place(a), app.place(b)];
      app.map.path = [za, zb].map((z) => [z[state.x], z[state.y]]);
      const walk = slider("Step", {
        min: 0,
        max: 1,
        step: 0.01,
        value: 0,
        show: (t) => `${Math.round(100 * t)} %`,
        oninput: (t) => app.setProbe(za.map((value, k) => value + t * (zb[k] - value))),
      });
      parts.push(
        walk.element,
        h(
          "div",
          { class: "ml-row" },
          button("Play", () => play(walk)),
          button("Forget", () => {
            [state.walk, app.map.path] = [[null, null], null];
            showWalk();
            app.map.draw();
          }),
        ),
      );
    }
    walkBox.replaceChildren(...parts);
    app.map.draw();
  }

  /** Two seconds from one end to the other; in ten steps for those who want less motion. */
  function play(walk) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const started = performance.now();
    const step = () => {
      const t = Math.min((performance.now() - started) / 2000, 1);
      walk.set(calm ? Math.floor(10 * t) / 10 : t);
      walk.input.dispatchEvent(new Event("input"));
      if (t < 1) requestAnimationFrame(step);
    };
    step();
  }

  /** New samples, where the model has a density of its scores. */
  function showDraws() {
    const { drawn } = app.current;
    if (!drawn) return drawBox.replaceChildren();
    let next = 0;
    const sheet = h("div", { class: "ml-sheet" });
    const draw = () => {
      const size = app.current.facts.imageShape ? 12 : 4;
      sheet.replaceChildren(
        ...Array.from({ length: size }, () => {
          const i = next++ % drawn.m;
          const z = Float64Array.from(drawn.data.subarray(i * drawn.d, (i + 1) * drawn.d));
          const picture = makePicture(app.current, `sample ${i + 1}`);
          requestAnimationFrame(() => picture.show(preimage(app.current.P, z).point));
          return h(
            "button",
            {
              type: "button",
              class: "ml-tile",
              title: `z0 = ${formatNumber(z[0])}`,
              onclick: () => app.setProbe(z),
            },
            picture.element,
          );
        }),
      );
    };
    drawBox.replaceChildren(
      h("h3", {}, "New samples"),
      h("p", { class: "ml-sub" }, "Scores sampled from the model's density, and their pre-images."),
      button("Draw some", draw),
      sheet,
    );
  }
}
