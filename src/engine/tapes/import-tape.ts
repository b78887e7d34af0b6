import { setImmediate as nextTurn } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import { ENGINE_VERSION, type EventDraft, type RunEvent } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run, Scratch } from "../../protocol/runs/run.ts";
import { type ImportTapeRequest, type ImportTapeResponse, RECORDED_WORKFLOW_ID } from "../../protocol/tapes/api.ts";
import type { StoredTape } from "../../store/port/tapes.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { ownerOf } from "../runs/create-run.ts";
import { stamp } from "../runs/stamp.ts";
import { serializeFor } from "../shared/serialize.ts";
import { type IncomingTape, incomingTape } from "./incoming-tape.ts";
import { RECORDED_WORKFLOW_HASH, recordedWorkflow } from "./recorded-workflow.ts";
import { missingBodies } from "./tape-info.ts";

interface ImportTape {
  readonly caller: Caller;
  readonly request: ImportTapeRequest;
  readonly record: Recorder<ImportTapeResponse>;
}

/**
 * Makes a run of a tape, in one commit: it begins, has an event for each record, and has ended. A tape that is here already, by
 * the digest of its records, is not made again, however many bring it at the same time.
 */
export function importTape(host: Host, command: ImportTape): Promise<ImportTapeResponse> {
  // One at a time: each may take much memory.
  return serializeFor(host.store, "tapes", () => take(host, command));
}

async function take(host: Host, command: ImportTape): Promise<ImportTapeResponse> {
  const { caller, request, record } = command;
  const { tenant, workspace } = caller;
  const incoming = await incomingTape(host.scrubber, request.tape, request.name);
  const known = await host.store.listTapes(caller, { digest: incoming.digest, limit: KNOWN_MAX });
  const found = known.find((tape) => tape.workspace === workspace);
  const same = found && (await host.store.readTape(caller, found.runId));
  if (same !== undefined) return asBefore(host, command, incoming, same);

  const nowMs = host.nowMs();
  const { run, events } = await recordedRun(host, command, incoming, nowMs);
  const { runId } = run;
  const { digest, header, name, bodies, payloads, scrubbed } = incoming;
  const records = payloads.length;
  const tape: StoredTape = {
    runId,
    tenant,
    ...defined({ workspace }),
    digest,
    header,
    ...defined({ name }),
    records,
    bodies,
    importedBy: caller.principal,
    importedAtMs: nowMs,
  };
  const missing = [...bodies];
  const response = { runId, created: true, records, digest, scrubbed, bodies: { referenced: bodies.length, missing } };
  const outcome = record(response);
  // The audit log outlives the run, so nothing that somebody wrote goes there; not the name either.
  const details = { digest, records, scrubbed };
  const committed = await host.store.commit({
    tenant,
    runs: [{ runId, expectedVersion: 0, events, run }],
    workflows: await recordedWorkflow(host, tenant),
    tapes: [{ type: "import", tape }],
    audit: [auditDraft(caller, nowMs, runId, { action: "tape.imported", details })],
    ...defined({ idempotency: outcome }),
  });
  if (committed.ok) return response;
  const { refusal } = committed;
  const winner = refusal.type === "tape" ? await host.store.readTape(caller, refusal.runId) : undefined;
  if (winner === undefined) throw refused(refusal);
  return asBefore(host, command, incoming, winner);
}

/** A tape may be in several workspaces. Where it is in more than that, the commit finds it out. */
const KNOWN_MAX = 100;

async function asBefore(
  host: Host,
  { caller, record }: ImportTape,
  { scrubbed }: IncomingTape,
  tape: StoredTape,
): Promise<ImportTapeResponse> {
  const { runId, digest, records, bodies } = tape;
  const missing = await missingBodies(host, caller, tape);
  const found = { referenced: bodies.length, missing };
  const response: ImportTapeResponse = { runId, created: false, records, digest, scrubbed, bodies: found };
  const outcome = record(response);
  if (outcome === undefined) return response;
  const committed = await host.store.commit({ tenant: caller.tenant, idempotency: outcome });
  if (!committed.ok) throw refused(committed.refusal);
  return response;
}

const DRAFTS_AT_ONCE = 1000;

/** All of it happened elsewhere, so it is all of one moment here; when things happened is in the records. */
async function recordedRun(
  host: Host,
  { caller, request: { agentId } }: ImportTape,
  { digest, name, payloads }: IncomingTape,
  nowMs: number,
): Promise<{ run: Run; events: RunEvent[] }> {
  const metadata = {
    tape: defined({ digest, name }),
    ...(agentId === undefined ? {} : { agentId: host.scrubber.scrubText(agentId) }),
  };
  const started: EventDraft = {
    type: "run.started",
    payload: {
      workflowId: RECORDED_WORKFLOW_ID,
      workflowHash: RECORDED_WORKFLOW_HASH,
      inputs: {},
      defaults: {},
      transport: "rest",
      engineVersion: String(ENGINE_VERSION),
      owner: ownerOf(caller),
      metadata,
      limits: { nodeExecutions: 1 },
    },
  };
  const scratch: Scratch = {};
  const stamping = { runId: host.newId("run"), nowMs, newId: host.newId, scratch };
  let { run, events } = stamp(undefined, [started], stamping);
  const all = [...events];
  for (let i = 0; i < payloads.length; i += DRAFTS_AT_ONCE) {
    const records = payloads.slice(i, i + DRAFTS_AT_ONCE);
    const drafts = records.map((payload): EventDraft => ({ type: "assay.tape.record", payload }));
    ({ run, events } = stamp(run, drafts, stamping));
    for (const event of events) all.push(event);
    await nextTurn();
  }
  ({ run, events } = stamp(run, [{ type: "run.completed", payload: { outputs: {} } }], stamping));
  return { run, events: [...all, ...events] };
}
