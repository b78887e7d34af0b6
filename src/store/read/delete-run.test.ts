import { expect, test } from "vitest";
import { OPERATIONS } from "../../protocol/operations.ts";
import { ANNOTATION_OPERATIONS, QUEUE_OPERATIONS, RUN_OPERATIONS } from "./delete-run.ts";

/** What a deleted run's own deletion is answered is kept: it says nothing but ids. */
const KEPT = ["DELETE /v1/host/assay/runs/{runId}"];

test.each([
  ["{runId}", RUN_OPERATIONS],
  ["{annotationId}", ANNOTATION_OPERATIONS],
  ["{queueId}", QUEUE_OPERATIONS],
])("every answer to a request that names %s is found when the run goes", (name, known) => {
  const named = Object.values(OPERATIONS)
    .filter((operation) => "idempotent" in operation && operation.path.includes(name))
    .map(({ method, path }) => `${method} ${path}`)
    .filter((operation) => !KEPT.includes(operation));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((operation) => !known.some((prefix) => operation.startsWith(prefix + name)))).toEqual([]);
});
