// Points drawn by the graphics card, through WebGL2.

const VERTEX = `#version 300 es
in vec2 place;
in vec4 colour;
uniform vec2 scale;
uniform vec2 middle;
uniform float size;
out vec4 ink;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = size;
  ink = colour;
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 ink;
uniform float opacity;
out vec4 result;
void main() {
  vec2 from = gl_PointCoord * 2.0 - 1.0;
  float r = dot(from, from);
  if (r > 1.0) discard;
  float alpha = ink.a * opacity * (1.0 - smoothstep(0.7, 1.0, r));
  result = vec4(ink.rgb * alpha, alpha);
}`;

export function onGraphicsCard(canvas, gl) {
  let state = prepare(gl);
  let points = null;
  let colours = null;
  let last = null;
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    state = prepare(gl);
    if (points) self.setPoints(points);
    if (colours) self.setColours(colours);
    if (last) self.draw(...last);
  });
  const self = {
    kind: "webgl2",
    setPoints(xy) {
      points = xy;
      gl.bindBuffer(gl.ARRAY_BUFFER, state.places);
      gl.bufferData(gl.ARRAY_BUFFER, xy, gl.DYNAMIC_DRAW);
    },
    setColours(rgba) {
      colours = rgba;
      gl.bindBuffer(gl.ARRAY_BUFFER, state.inks);
      gl.bufferData(gl.ARRAY_BUFFER, rgba, gl.DYNAMIC_DRAW);
    },
    draw(view, size, opacity = 1) {
      last = [view, size, opacity];
      const { width, height } = canvas;
      const ratio = view.ratio ?? 1;
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      if (!points) return;
      gl.useProgram(state.program);
      gl.uniform2f(
        state.at("scale"),
        (2 * view.scale * ratio) / width,
        (2 * view.scale * ratio) / height,
      );
      gl.uniform2f(state.at("middle"), view.cx, view.cy);
      gl.uniform1f(state.at("size"), size * ratio);
      gl.uniform1f(state.at("opacity"), opacity);
      gl.bindVertexArray(state.array);
      gl.drawArrays(gl.POINTS, 0, points.length / 2);
    },
  };
  return self;
}

function prepare(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS))
    throw new Error(gl.getProgramInfoLog(program));
  const [places, inks, array] = [gl.createBuffer(), gl.createBuffer(), gl.createVertexArray()];
  gl.bindVertexArray(array);
  for (const [name, buffer, count, type] of [
    ["place", places, 2, gl.FLOAT],
    ["colour", inks, 4, gl.UNSIGNED_BYTE],
  ]) {
    const location = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, count, type, type === gl.UNSIGNED_BYTE, 0, 0);
  }
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const known = {};
  const at = (name) => (known[name] ??= gl.getUniformLocation(program, name));
  return { program, places, inks, array, at };
}
