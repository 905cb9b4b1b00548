// The mathematics of the page by name, for readers of its console and for tests.

import { denoise, preimage } from "./preimage.js";
import { judgePoint } from "./model.js";
import { contributions, pValue, threshold } from "./novelty.js";
import { scoreGradients, scores, scoresAndResidual } from "./subspace.js";

export const engine = {
  scores,
  scoresAndResidual,
  scoreGradients,
  preimage,
  denoise,
  judgePoint,
  contributions,
  pValue,
  threshold,
};
