// Many points, drawn by WebGL2, or by ourselves where there is no graphics card.

import { onGraphicsCard } from "./scatter_webgl.js";
import { onPlainCanvas } from "./scatter_plain.js";
import { asDensity } from "./scatter_density.js";

/** More points than these are drawn as a density. */
export const MANY = 20000;

/**
 * A renderer of points.
 *   setPoints(xy)      2n numbers
 *   setColours(rgba)   4n bytes
 *   draw({ cx, cy, scale, ratio }, size, opacity)   centre, pixels per unit, pixels of the screen
 *     per pixel of the page; size of a point in pixels
 * @param kind "density", "webgl2", "plain", or nothing: WebGL2, unless it is missing or a program that plays
 *   the card, which was measured to be ten times slower than painting the dots here
 */
export function makeScatter(canvas, kind = null) {
  if (kind === "density") return asDensity(canvas);
  if (kind === "plain" || (kind === null && !hasCard())) return onPlainCanvas(canvas);
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  return gl ? onGraphicsCard(canvas, gl) : onPlainCanvas(canvas);
}

let card = null;

/** Whether WebGL2 runs on a card, asked once. */
function hasCard() {
  if (card !== null) return card;
  const gl = document.createElement("canvas").getContext("webgl2");
  let name = gl?.getParameter(gl.RENDERER) ?? "software";
  if (name === "WebKit WebGL") {
    const more = gl.getExtension("WEBGL_debug_renderer_info");
    if (more) name = gl.getParameter(more.UNMASKED_RENDERER_WEBGL);
  }
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  card = !/swiftshader|llvmpipe|software|basic render/i.test(name);
  return card;
}
