// What a hand does to the map: mouse, pen, fingers and keys.

/** How near a press must be to the probe to take hold of it, in pixels. */
const GRIP = 22;

export function followHand(map) {
  const { canvas } = map;
  const fingers = new Map();
  let held = null; // "probe", "pan", "lasso" or "pinch"
  let moved = 0;
  let last = null;

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    capture(event.pointerId);
    const at = place(event);
    fingers.set(event.pointerId, at);
    [last, moved] = [at, 0];
    if (fingers.size === 2) held = "pinch";
    else if (onProbe(at)) held = "probe";
    else if (map.mode === "lasso" || event.shiftKey) [held, map.lasso] = ["lasso", [at]];
    else held = "pan";
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (!held) return hover(at);
    const before = fingers.get(event.pointerId) ?? last;
    moved += Math.hypot(at[0] - before[0], at[1] - before[1]);
    if (held === "pinch") pinch(event.pointerId, at);
    else if (held === "probe") map.on.probe?.(map.toPlace(...at), false);
    else if (held === "lasso") map.lasso.push(at);
    else pan(before, at);
    fingers.set(event.pointerId, at);
    last = at;
    if (held !== "probe") map.draw();
  });

  const release = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (fingers.size) return;
    const was = held;
    held = null;
    if (was === "probe") map.on.probe?.(map.toPlace(...last), true);
    if (was === "lasso") {
      if (map.lasso.length > 3) map.on.lasso?.(map.insideLasso());
      map.lasso = null;
      map.endLasso?.();
      map.draw();
    }
    if (was !== "lasso" && moved < 5 && event.type === "pointerup" && was !== "probe") {
      map.on.pick?.(map.near(...last), map.toPlace(...last));
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => !held && setHovered(null));
  canvas.addEventListener("dblclick", () => map.fit());
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      map.zoomAt(...place(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    const middle = [map.width / 2, map.height / 2];
    if (event.key === "+" || event.key === "=") map.zoomAt(...middle, 1.25);
    else if (event.key === "-") map.zoomAt(...middle, 0.8);
    else if (event.key === "0") map.fit();
    else if (!map.on.key?.(event)) return;
    event.preventDefault();
  });

  function capture(id) {
    try {
      canvas.setPointerCapture(id);
    } catch {
      // a pointer that a test made up
    }
  }

  function onProbe([px, py]) {
    if (!map.probe) return false;
    const [x, y] = map.toPixels(...map.probe);
    return Math.hypot(px - x, py - y) <= GRIP;
  }

  function hover(at) {
    canvas.classList.toggle("ml-grab", onProbe(at));
    setHovered(map.near(...at));
  }

  function setHovered(i) {
    if (i === map.hovered) return;
    map.hovered = i;
    map.on.hover?.(i);
    map.draw();
  }

  function pan(before, at) {
    map.moved = true;
    map.view.cx -= (at[0] - before[0]) / map.view.scale;
    map.view.cy += (at[1] - before[1]) / map.view.scale;
  }

  function pinch(id, at) {
    const other = [...fingers].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const before = fingers.get(id);
    const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
    map.zoomAt((at[0] + other[0]) / 2, (at[1] + other[1]) / 2, apart(at) / apart(before));
  }
}
