// The page's side of the worker: one request in flight, the latest value wins.

/** @param makeWorker () → Worker */
export function makeClient(makeWorker) {
  const worker = makeWorker();
  const waiting = new Map();
  let number = 0;
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.problem) reject(new Error(data.problem));
    else resolve(data);
  };
  return {
    ask(request) {
      return new Promise((resolve, reject) => {
        waiting.set(++number, { resolve, reject });
        worker.postMessage({ id: number, ...request });
      });
    },
    close: () => worker.terminate(),
  };
}

/**
 * A function that runs `work` for the latest of many calls: while one runs, the newest waits and
 * those between are forgotten.
 */
export function latest(work) {
  let running = false;
  let next = null;
  return async function run(...values) {
    next = values;
    if (running) return;
    running = true;
    try {
      while (next) {
        const current = next;
        next = null;
        await work(...current);
      }
    } finally {
      running = false;
    }
  };
}
