import { parentPort, workerData } from "node:worker_threads";
import { boundReviewer } from "../../reviews/reviewers/bound-reviewer.ts";
import { takeTurnsOver } from "../../reviews/server/take-turns-over.ts";
import type { TurnThreadData } from "../../reviews/server/turns-apart.ts";
import { chatModelOf } from "./review-model.ts";

if (parentPort === null) throw new Error("turn-thread.ts runs as a worker thread only");

const data = workerData as TurnThreadData;
takeTurnsOver(
  parentPort,
  data,
  data.reviewers.map((binding) => boundReviewer(binding, chatModelOf)),
);
