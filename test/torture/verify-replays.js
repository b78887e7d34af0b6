// @ts-check
import { isDeepStrictEqual } from "node:util";

/**
 * Every acknowledged replay is there and says what its source says; nobody made one that was not asked for twice.
 * @param {import("./journal.js").Journal} journal
 * @param {string} tenant
 * @param {ReadonlyMap<string, any>} replays by run id, as listed
 * @param {ReadonlyMap<string, readonly import("./verify.js").LoggedEvent[]>} replayed their logs
 * @param {ReadonlyMap<string, readonly import("./verify.js").LoggedEvent[]>} logs of the runs they are replays of
 */
export function checkReplays(journal, tenant, replays, replayed, logs) {
  for (const [runId, { sourceRunId, tenant: of }] of journal.replays) {
    if (of === tenant && !replays.has(runId))
      journal.violation("an acknowledged replay is gone", { runId, sourceRunId });
  }
  for (const [runId, run] of replays) {
    const sourceRunId = run.metadata.forkedFrom.runId;
    const said = (replayed.get(runId) ?? []).map(wordsOf);
    const source = (logs.get(sourceRunId) ?? []).map(wordsOf);
    if (isDeepStrictEqual(said, source)) continue;
    const at = source.findIndex((event, i) => !isDeepStrictEqual(event, said[i]));
    journal.violation("a replay says something else than its source", {
      runId,
      sourceRunId,
      at,
      source: source[at],
      replay: said[at],
    });
  }
}

/** @param {import("./verify.js").LoggedEvent} event */
function wordsOf({ sequence, type, nodeId, payload }) {
  return { sequence, type, nodeId, payload };
}
