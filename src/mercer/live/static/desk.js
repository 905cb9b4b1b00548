// The page's side of the server: one request in flight, the latest value wins.

import { inflate } from "./numbers.js";

/**
 * @param token that the server wants to see
 * @returns {
 *   fit(request, progress), save(): the backend of app.js
 *   ask(path), upload(file), take(source), cancel()
 *   listen(act): told of { busy, share, words, seconds, source, plan } }
 */
export function makeDesk(token) {
  const address = (path, more = {}) =>
    new URL(`${path}?${new URLSearchParams({ ...more, token })}`, location.href);
  const listeners = new Set();
  const desk = {
    source: null, // { id, name, model } of the rows
    made: null, // id of the model that is shown
    words: "",
    busy: false,
    share: null,
    seconds: 0, // since the request was sent
    plan: null, // what the fit makes of the columns, see plan.py
    show: () => {},
    listen(act) {
      listeners.add(act);
      act(desk);
    },
    say: (words) => tell({ words }),
    ask: (path, more, options) => answerOf(fetch(address(path, more), options)).then((r) => r.json()),
    save: () => answerOf(fetch(address(`model/${desk.made}`))).then((r) => r.blob()),
    async fit({ kernel, q, center, ...more }, progress = () => {}) {
      const { id } = desk.source;
      const request = { data: id, kernel, components: q, center, ...more };
      return load(await send({ fit: request }, progress));
    },
    cancel: () => socket?.send(JSON.stringify({ id: ++number, cancel: true })),
    upload: (file) =>
      work(async () => {
        tell({ words: `sending ${file.name} …` });
        const options = { method: "POST", body: file };
        return open(await desk.ask("data", { name: file.name }, options));
      }),
    take: (source) => work(() => open(source)),
    /** A fit from the form: shown when it is there. */
    run: (request) =>
      work(async () => desk.show(await desk.fit(request))),
  };
  let socket = null;
  let number = 0;
  let waiting = null; // { id, resolve, reject, progress }

  return desk;

  function tell(changes) {
    Object.assign(desk, changes);
    for (const act of [...listeners]) if (act(desk) === false) listeners.delete(act);
  }

  /** Work that the reader asked for: says why it failed. */
  async function work(act) {
    try {
      tell({ words: (await act()) ?? "" });
    } catch (problem) {
      tell({ words: problem.message });
    }
  }

  async function open(source) {
    tell({ source, plan: null, words: `reading ${source.name} …` });
    const answer = await send(source.model ? { open: source.id } : { fit: { data: source.id, ask: true } });
    if (answer.waits) {
      return `A fit of all rows takes ${desk.plan.solver.time}. Press “Fit all rows” to start it.`;
    }
    desk.show(await load(answer));
    return "";
  }

  async function load({ made }) {
    const answer = await answerOf(fetch(address(`page/${made}`)));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const size = new DataView(bytes.buffer).getUint32(0, true);
    const facts = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
    const arrays = await inflate(facts, bytes.subarray(4 + size));
    desk.made = made;
    return { facts, arrays };
  }

  async function send(message, progress = () => {}) {
    const open = await connected();
    waiting?.reject(new Error("replaced by a later request"));
    const started = performance.now();
    const tick = () => tell({ seconds: Math.floor((performance.now() - started) / 1000) });
    const clock = setInterval(tick, 500);
    tell({ busy: true, share: null, seconds: 0 });
    try {
      return await new Promise((resolve, reject) => {
        waiting = { id: ++number, resolve, reject, progress };
        open.send(JSON.stringify({ id: number, ...message }));
      });
    } finally {
      clearInterval(clock);
      tell({ busy: Boolean(waiting) });
    }
  }

  function hear({ data }) {
    const { id, ...answer } = JSON.parse(data);
    if (answer.cancelled) {
      waiting?.reject(new Error("cancelled"));
      waiting = null;
    }
    if (waiting?.id !== id) return;
    if (answer.stage) {
      const share = answer.total ? answer.done / answer.total : null;
      const steps = answer.total ? `: ${answer.done} of ${answer.total}` : answer.done ? `: ${answer.done}` : "";
      tell({ share, words: answer.stage + steps, plan: answer.plan ?? desk.plan });
      waiting.progress(share ?? 0);
      return;
    }
    const { resolve, reject } = waiting;
    waiting = null;
    if (answer.problem) reject(new Error(answer.problem));
    else resolve(answer);
  }

  function connected() {
    if (socket?.readyState === WebSocket.OPEN) return socket;
    const url = address("fits");
    url.protocol = "ws:";
    return new Promise((resolve, reject) => {
      socket = new WebSocket(url);
      socket.onopen = () => resolve(socket);
      socket.onmessage = hear;
      socket.onclose = () => {
        const gone = new Error("the server has stopped; start mercer explore again");
        waiting?.reject(gone);
        waiting = null;
        reject(gone);
      };
    });
  }
}

async function answerOf(request) {
  const answer = await request;
  if (answer.ok) return answer;
  const text = await answer.text();
  let problem = text;
  try {
    ({ problem } = JSON.parse(text));
  } catch {
    // plain text of the guard
  }
  throw new Error(problem);
}
