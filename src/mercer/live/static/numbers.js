// The arrays of a page: one compressed piece, cut by a table of contents.

const TYPES = { float32: Float32Array, float64: Float64Array, uint8: Uint8Array };

/** All arrays of a page by name, each with its shape as { data, shape }. */
export function unpack(facts, text) {
  return inflate(facts, fromBase64(text));
}

/** The same from compressed bytes, as a server or a notebook sends them. */
export async function inflate(facts, packed) {
  const stream = new Blob([packed]).stream();
  const plain = stream.pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(plain).arrayBuffer());
  return arraysOf(facts.arrays, bytes);
}

function arraysOf(contents, bytes) {
  const arrays = {};
  for (const [name, { at, shape, type }] of Object.entries(contents)) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = { data: fromPlanes(bytes, at, count, TYPES[type]), shape };
  }
  return arrays;
}

/** All first bytes stand before all second ones, because so they compress. */
function fromPlanes(bytes, at, count, Type) {
  const size = Type.BYTES_PER_ELEMENT;
  const whole = new Uint8Array(count * size);
  for (let b = 0; b < size; b++) {
    const plane = bytes.subarray(at + b * count, at + (b + 1) * count);
    for (let i = 0, to = b; i < count; i++, to += size) whole[to] = plane[i];
  }
  return new Type(whole.buffer);
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text.trim());
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
