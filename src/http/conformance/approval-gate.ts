import { execute } from "../../engine/execute.ts";
import { decideGovernedGate } from "../../engine/gates/decide/decide-governed-gate.ts";
import { voterOf } from "../../engine/gates/voter.ts";
import type { Host } from "../../engine/host.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { OPERATIONS } from "../../protocol/operations.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import { openInterrupts, type Run } from "../../protocol/runs/run.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import type { HandlerOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";
import { definitionOf, startMade, untilRun } from "./made-run.ts";

/** A role that no other gate asks for and that grants no scope: holding it has no effect elsewhere. */
const ROLE = "conformance-approver";
const GATE = "gate";

type Scenario = "unauthorized-grant" | "grant" | "reject" | "override" | "quorum";

const WAITING = { limitMs: 5000, reason: "No worker raised the gate in time" };

/**
 * A real run of a real governed gate, decided by the named principal: with the role that the gate asks for or, in
 * `unauthorized-grant`, with the roles that the principal has in this tenant.
 */
export const approvalGateRoute: HandlerOf<(typeof OPERATIONS)["conformanceApprovalGate"]> = async (context) => {
  const { host, body } = context;
  const { scenario, principal, reason } = body;
  const caller: Caller = { ...context.caller, principal };
  const runId = await startMade(host, context.caller, workflowOf(scenario));
  const isRaised = (run: Run) => openInterrupts(run).length > 0;
  const run = await untilRun(host, context.caller, runId, isRaised, WAITING);
  if (!isRaised(run)) throw new AppError("unavailable", { reason: WAITING.reason });
  const answerer = await voterFor(host, caller, run, scenario);
  let written: readonly EventDraft[] = [];
  const value = {
    decision: scenario === "reject" ? "rejected" : "granted",
    ...(scenario === "override" ? { override: true } : {}),
    ...defined({ reason }),
  };
  try {
    await execute(host, {
      caller,
      runId,
      decide: (now) => {
        const interrupt = openInterrupts(now)[0] as NonNullable<ReturnType<typeof openInterrupts>[0]>;
        const at = new Date(host.nowMs()).toISOString();
        const starters = startersOf(now);
        const ruling = decideGovernedGate({ interrupt, value, answerer, checkBinding: () => {}, starters, at });
        written = ruling.events;
        return ruling;
      },
      result: () => undefined,
      record: () => undefined,
    });
  } catch (error) {
    if (!(error instanceof AppError && error.code === "forbidden")) throw error;
  }
  const event = written.find(({ type }) => type.startsWith("approval.") || type === "authorization.decided");
  const released = written.some(
    ({ type, payload }) => type === "interrupt.resolved" && "outcome" in payload && payload.outcome === "granted",
  );
  return ok({
    released,
    runId,
    ...(event === undefined ? {} : { event: { type: event.type, payload: event.payload } }),
  });
};

async function voterFor(host: Host, caller: Caller, run: Run, scenario: Scenario): Promise<Voter> {
  const answerer = await voterOf(host, caller, run.owner);
  return scenario === "unauthorized-grant" ? answerer : { ...answerer, roles: [...answerer.roles, ROLE] };
}

function workflowOf(scenario: Scenario): WorkflowDefinition {
  const config = {
    requiredRole: ROLE,
    title: "Conformance gate",
    override: { requiredRole: ROLE, audited: true },
    ...(scenario === "override" ? { overrideBypassesQuorum: true } : {}),
    ...(scenario === "quorum" || scenario === "override" ? { quorum: 2 } : {}),
  };
  const typeId = "core.openwop.governance.approvalGate";
  return definitionOf({
    id: `conformance-governance-${scenario}`,
    name: "Conformance gate",
    nodes: [
      { id: GATE, typeId, name: "Gate", position: { x: 0, y: 0 }, config, inputs: {} },
      { id: "after", typeId: "core.noop", name: "After", position: { x: 1, y: 0 }, config: {}, inputs: {} },
    ],
    edges: [
      { id: "granted", sourceNodeId: GATE, targetNodeId: "after" },
      {
        id: "rejected",
        sourceNodeId: GATE,
        targetNodeId: GATE,
        condition: { type: "equals", left: "output.decision", right: "rejected" },
      },
    ],
  });
}
