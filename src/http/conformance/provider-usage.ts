import { auditDraft, execute, refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { ownerOf } from "../../engine/runs/create-run.ts";
import { startRun } from "../../engine/runs/decide/start-run.ts";
import { stamp } from "../../engine/runs/stamp.ts";
import { makePlan } from "../../engine/workflows/decide/plan.ts";
import { registrationOf } from "../../engine/workflows/own-workflow.ts";
import { definitionHash } from "../../engine/workflows/plans.ts";
import { AGENT_EVENTS } from "../../protocol/agents/events.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft, PayloadOf, RunEvent } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { OPERATIONS } from "../../protocol/operations.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { parse } from "../../protocol/schema.ts";
import type { HandlerOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";
import { definitionOf } from "./made-run.ts";

type Usage = PayloadOf<"provider.usage">;
type Fields = Readonly<Record<string, unknown>>;

/** Records provider usage as it was posted, under the run that was named, and returns the event. */
export const providerUsageRoute: HandlerOf<(typeof OPERATIONS)["conformanceProviderUsage"]> = async (context) => {
  const { host, caller, body } = context;
  const { runId = host.newId("run"), ...posted } = body;
  refuseCredentials(host, posted);
  const usage = parse(AGENT_EVENTS["provider.usage"].payload, payloadOf(posted), "payload");
  const run = await host.store.readRun(caller, runId);
  const event = run === undefined ? await inNewRun(host, caller, runId, usage) : await inRun(host, caller, run, usage);
  return ok({ runId, event });
};

/** The payload has a member of its own, or is the body. */
function payloadOf(posted: Fields): unknown {
  return posted["payload"] ?? posted["usage"] ?? posted;
}

const CREDENTIAL_NAME =
  /api[-_]?key|secret|passw(or)?d|authorization|bearer|credential|cookie|private[-_]?key|(access|auth|refresh|id|session)[-_]?token/i;

/** Usage is content-free: a credential in it would be served to every reader of the run. The value is never echoed. */
function refuseCredentials({ scrubber }: Host, posted: Fields): void {
  const path = credentialIn(posted, (value) => scrubber.scrubText(value) !== value, "");
  if (path !== undefined) throw new AppError("provider_usage_credential_leak", { path });
}

function credentialIn(value: unknown, isSecret: (text: string) => boolean, path: string): string | undefined {
  if (typeof value === "string") return isSecret(value) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    // A name may be the secret itself.
    if (isSecret(name)) return `${path}/…`;
    const at = `${path}/${name}`;
    const found = CREDENTIAL_NAME.test(name) ? at : credentialIn(member, isSecret, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function inRun(host: Host, caller: Caller, seen: Run, usage: Usage): Promise<RunEvent> {
  const { runId } = seen;
  const eventId = host.newId("evt");
  await execute(host, {
    caller,
    runId,
    seen,
    decide: ({ status }, plan) => {
      const problem = "nothing follows its end; name a run that goes on, or an id that no run has";
      if (isTerminal(status)) throw new AppError("run_state_conflict", { runId, runStatus: status, problem });
      const known = usage.nodeId !== undefined && plan.graph.node.has(usage.nodeId);
      return [{ ...usageDraft(usage, eventId), ...(known ? { nodeId: usage.nodeId } : {}) }];
    },
    result: () => undefined,
    record: () => undefined,
  });
  return written(host, runId, eventId);
}

const NODE = "usage";
const WORKFLOW = definitionOf({
  id: "conformance-provider-usage",
  name: "Conformance usage",
  nodes: [{ id: NODE, typeId: "core.noop", name: "Usage", position: { x: 0, y: 0 }, config: {}, inputs: {} }],
});

/** An id that no run has becomes a run that has ended, in one commit: no worker is needed. */
async function inNewRun(host: Host, caller: Caller, runId: string, usage: Usage): Promise<RunEvent> {
  const { tenant } = caller;
  // The id may be that of a run which the caller cannot see.
  if ((await host.store.runRow(runId)) !== undefined) throw new AppError("not_found", { what: "run", runId });
  const nowMs = host.nowMs();
  const plan = makePlan(definitionHash(WORKFLOW), WORKFLOW);
  const eventId = host.newId("evt");
  const node = { nodeId: NODE } as const;
  const drafts: EventDraft[] = [
    startRun(plan, { request: { workflowId: WORKFLOW.id }, owner: ownerOf(caller), limits: host.limits }),
    { type: "node.started", ...node, payload: { ...node, typeId: "core.noop", attempt: 0 } },
    usageDraft(usage, eventId),
    { type: "node.completed", ...node, payload: { ...node, outputs: {} } },
    { type: "run.completed", payload: { outputs: {} } },
  ];
  const { run, events } = stamp(undefined, drafts, { runId, nowMs, newId: host.newId });
  const committed = await host.store.commit({
    tenant,
    runs: [{ runId, expectedVersion: 0, events, run }],
    workflows: await registrationOf(host.store, tenant, WORKFLOW, plan.hash, nowMs),
    audit: [auditDraft(caller, nowMs, runId, { action: "run.created", details: { workflowId: WORKFLOW.id } })],
  });
  if (!committed.ok) throw refused(committed.refusal);
  return written(host, runId, eventId);
}

function usageDraft(payload: Usage, eventId: string): EventDraft {
  return { type: "provider.usage", payload, eventId };
}

async function written(host: Host, runId: string, eventId: string): Promise<RunEvent> {
  for (let from = 0; ; ) {
    const page = await host.store.readEvents(runId, from, 500);
    const found = page.map(({ body }) => JSON.parse(body) as RunEvent).find((event) => event.eventId === eventId);
    if (found !== undefined) return found;
    if (page.length === 0) throw new AppError("unavailable", { reason: `The event of run ${runId} cannot be read` });
    from += page.length;
  }
}
