// @ts-check
import { isEnd } from "./client.js";

/**
 * @typedef {import("./verify.js").LoggedEvent} LoggedEvent
 * @typedef {import("./verify.js").Snapshot} Snapshot
 */

/**
 * A node dispatches one run; neither outlives the other's end, and each says of the other what that says of itself.
 * @param {import("./journal.js").Journal} journal
 * @param {ReadonlyMap<string, Snapshot>} runs
 * @param {ReadonlyMap<string, readonly LoggedEvent[]>} logs
 */
export function checkFamilies(journal, runs, logs) {
  /** @type {Set<string>} */
  const dispatched = new Set();
  for (const [runId, log] of logs) {
    const children = log.filter(({ type }) => type === "node.dispatched").map(({ payload }) => payload.childRunId);
    if (children.length > 1) journal.violation("a node dispatched two runs", { runId, children });
    for (const childRunId of children) {
      dispatched.add(childRunId);
      checkPair(journal, { run: runs.get(runId), log }, { run: runs.get(childRunId), log: logs.get(childRunId) });
    }
  }
  for (const { runId, parentRunId } of runs.values()) {
    if (parentRunId !== undefined && !dispatched.has(runId)) {
      journal.violation("a dispatched run that no log tells of", { runId, parentRunId });
    }
  }
}

/**
 * @typedef {{ run: Snapshot | undefined, log: readonly LoggedEvent[] | undefined }} Relative
 * @param {import("./journal.js").Journal} journal
 * @param {Relative} parent
 * @param {Relative} child
 */
function checkPair(journal, { run: parent, log = [] }, { run: child, log: childLog = [] }) {
  const details = { parent, child, told: log.filter(({ type }) => type.startsWith("assay.child.")) };
  if (parent === undefined || child === undefined || child.parentRunId !== parent.runId) {
    return journal.violation("a dispatched run is gone", details);
  }
  const [cancelled] = childLog.filter(({ type }) => type === "run.cancelled");
  const cascaded = cancelled?.payload.parentRunId !== undefined;
  if (!isEnd(`run.${child.status}`)) journal.violation("a child outlived its parent", details);
  if (parent.status === "completed" && child.status !== "completed") {
    journal.violation("a parent completed without its child", details);
  }
  if (parent.status === "failed" && child.status === "completed") {
    journal.violation("a parent failed though its child completed", details);
  }
  if (cascaded && (parent.status === "completed" || cancelled?.payload.parentRunId !== parent.runId)) {
    journal.violation("a child was cancelled by a parent that was not", details);
  }
  const ended = log.find(({ type }) => type === "assay.child.ended");
  if (ended !== undefined && ended.payload.status !== child.status) {
    journal.violation("a parent was told of another end than its child's", details);
  }
}
