// @ts-check
import { get } from "./reading.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {import("./verify.js").Snapshot} Snapshot
 * @typedef {import("./verify.js").LoggedEvent} LoggedEvent
 */

/**
 * The chain verifies from its first entry to its last, and tells of each run what its log tells.
 * @param {import("./client.js").Client} client
 * @param {Tenant} tenant
 * @param {readonly Snapshot[]} runs
 * @param {ReadonlyMap<string, readonly LoggedEvent[]>} logs
 */
export async function checkAudit(client, { tenant, key }, runs, logs) {
  const { journal } = client;
  /** @type {{ atSequence: number, action: string, target: string }[]} */
  const entries = [];
  let fromSeq = 1;
  for (;;) {
    const page = await get(client, key, `/v1/host/assay/audit/entries?limit=1000&fromSeq=${fromSeq}`);
    entries.push(...page.entries);
    if (page.nextSeq === undefined) break;
    fromSeq = page.nextSeq;
  }
  if (entries.some((entry, i) => entry.atSequence !== i + 1)) journal.violation("a gap in the audit chain", { tenant });

  const verified = await get(client, key, `/v1/audit/verify?fromSeq=1&toSeq=${Math.max(1, entries.length)}`);
  const { chainValid, checkpointsValid, anomalies } = verified;
  if (!chainValid || !checkpointsValid) {
    journal.violation("the audit chain does not verify", { tenant, chainValid, checkpointsValid, anomalies });
  }
  /** @type {Map<string, number>} */
  const told = new Map();
  for (const { action, target } of entries) {
    const entry = `${action} ${target}`;
    told.set(entry, (told.get(entry) ?? 0) + 1);
  }
  for (const { runId, parentRunId } of runs) {
    const record = journal.runs.get(runId);
    const log = logs.get(runId) ?? [];
    const expected = {
      // What a run does to another is told of the run where it began.
      "run.created": parentRunId === undefined ? 1 : 0,
      "run.cancelled": log.filter(({ type, payload }) => type === "run.cancelled" && !payload.parentRunId).length,
      "interrupt.voted": log.filter(({ type }) => type === "assay.vote.recorded").length,
      "authorization.denied": log.filter(({ type }) => type === "authorization.decided").length,
      ...(record === undefined ? {} : { "run.paused": record.pauses, "run.resumed": record.resumes }),
    };
    for (const [action, times] of Object.entries(expected)) {
      const found = told.get(`${action} ${runId}`) ?? 0;
      if (found !== times) journal.violation("the audit log does not match", { runId, action, expected: times, found });
    }
  }
  const created = entries.filter((entry) => entry.action === "run.created").length;
  const asked = runs.filter(({ parentRunId }) => parentRunId === undefined).length;
  if (created !== asked) {
    journal.violation("the audit log has other runs than the list", { tenant, created, listed: asked });
  }
  return entries.length;
}
