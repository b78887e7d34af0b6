import { setImmediate as nextTurn } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import { ENGINE_VERSION, type EventDraft, type RunEvent } from "../../protocol/events.ts";
import type { Run, Scratch } from "../../protocol/runs/run.ts";
import { type ImportTapeRequest, type ImportTapeResponse, RECORDED_WORKFLOW_ID } from "../../protocol/tapes/api.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import type { WorkflowWrite } from "../../store/port/store.ts";
import type { StoredTape } from "../../store/port/tapes.ts";
import { type ApiRequest, auditDraft, commitUnit, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { ownerOf } from "../runs/create-run.ts";
import { stamp } from "../runs/stamp.ts";
import { serializeFor } from "../shared/serialize.ts";
import { registrationOf } from "../workflows/own-workflow.ts";
import { definitionHash } from "../workflows/plans.ts";
import { type IncomingTape, incomingTape } from "./incoming-tape.ts";
import { missingBodies } from "./tape-info.ts";

type ImportTape = ApiRequest<ImportTapeRequest, ImportTapeResponse>;

/** Makes a run of a tape in one commit, with an event for each record. A tape with the same digest of its records is imported once. */
export function importTape(host: Host, command: ImportTape): Promise<ImportTapeResponse> {
  // One import at a time: each may take much memory.
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
  const origin = { importedBy: caller.principal, importedAtMs: nowMs };
  const tape: StoredTape = defined({ runId, tenant, workspace, digest, header, name, records, bodies, ...origin });
  const missing = [...bodies];
  const response = { runId, created: true, records, digest, scrubbed, bodies: { referenced: bodies.length, missing } };
  const outcome = record(response);
  // The audit log outlives the run, so it has no texts of the tape, not even its name.
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

/** Workspaces that are searched for a tape; with more of them, the commit finds it. */
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
  if (outcome !== undefined) await commitUnit(host, { tenant: caller.tenant }, outcome);
  return response;
}

const DRAFTS_AT_ONCE = 1000;

/** The run of a tape. All its events have the time of the import; the original times are in the records. */
async function recordedRun(
  host: Host,
  { caller, request: { agentId } }: ImportTape,
  { digest, name, payloads }: IncomingTape,
  nowMs: number,
): Promise<{ run: Run; events: RunEvent[] }> {
  const agent = agentId === undefined ? {} : { agentId: host.scrubber.scrubText(agentId) };
  const metadata = { tape: defined({ digest, name }), ...agent };
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

/** The workflow of runs that were imported as tapes. It cannot be started, so its node does not matter. */
const DEFINITION: WorkflowDefinition = {
  id: RECORDED_WORKFLOW_ID,
  name: "Recorded elsewhere",
  description: "Runs that were imported as tapes. They can be read and judged.",
  version: "1",
  status: "archived",
  isActive: false,
  nodes: [{ id: "recorded", typeId: "core.noop", name: "Recorded", position: { x: 0, y: 0 }, config: {}, inputs: {} }],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

const RECORDED_WORKFLOW_HASH = definitionHash(DEFINITION);

function recordedWorkflow(host: Host, tenant: string): Promise<WorkflowWrite[]> {
  return registrationOf(host.store, tenant, DEFINITION, RECORDED_WORKFLOW_HASH, host.nowMs());
}
