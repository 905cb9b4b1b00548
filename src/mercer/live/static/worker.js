// Fits off the main thread: one request at a time, in the order in which they come.

import { inputError, makeFitter } from "./fit.js";

/** Answer requests { id, rows? (with start?), fit?, inputError? } with { id, ... }. */
export function serve(scope) {
  let rows = null;
  let fitter = null;
  let last = null;
  scope.onmessage = ({ data: request }) => {
    try {
      if (request.rows) {
        rows = request.rows;
        fitter = makeFitter(rows, request.start);
        scope.postMessage({ id: request.id });
      } else if (request.fit) {
        last = fitter.fit(request.fit);
        // The rows are known to the page already.
        const { support, ...parts } = last.parts;
        const own = support === rows ? null : { data: support.data, m: support.m, d: support.d };
        scope.postMessage({ id: request.id, ...last, parts: { ...parts, support: own } });
      } else {
        scope.postMessage({ id: request.id, inputError: inputError(last.parts, rows) });
      }
    } catch (problem) {
      scope.postMessage({ id: request.id, problem: String(problem.message ?? problem) });
    }
  };
}
