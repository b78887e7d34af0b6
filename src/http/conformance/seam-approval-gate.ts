import { execute } from "../../engine/execute.ts";
import { decideGovernedGate } from "../../engine/gates/decide/decide-governed-gate.ts";
import { voterOf } from "../../engine/gates/voter.ts";
import type { Host } from "../../engine/host.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import { openInterrupts, type Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

/** A role that nothing else asks for and that grants no scope: whoever is given it here gains nothing by it. */
const ROLE = "conformance-approver";
const GATE = "gate";

type Scenario = "unauthorized-grant" | "grant" | "reject" | "override" | "quorum";

/**
 * A real run of a real governed gate, decided by the named principal: as somebody with the role the gate asks for, or,
 * in `unauthorized-grant`, as what the principal is in this tenant.
 */
export const seamApprovalGateRoute: Handler = async (context) => {
  const { host, body } = context;
  const caller = callerOf(context);
  const { scenario, principal, reason } = body as { scenario: Scenario; principal: string; reason?: string };
  const run = await waitingRun(host, caller, scenario);
  const answerer = await voterFor(host, { ...caller, principal }, run, scenario);
  let written: readonly EventDraft[] = [];
  const value = {
    decision: scenario === "reject" ? "rejected" : "granted",
    ...(scenario === "override" ? { override: true } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
  try {
    await execute(host, {
      caller: { ...caller, principal },
      runId: run.runId,
      decide: (now) => {
        const interrupt = openInterrupts(now)[0] as NonNullable<ReturnType<typeof openInterrupts>[0]>;
        const at = new Date(host.nowMs()).toISOString();
        const ruling = decideGovernedGate({
          interrupt,
          value,
          answerer,
          checkBinding: () => {},
          starters: startersOf(now),
          at,
        });
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
  return {
    status: 200,
    json: {
      released,
      runId: run.runId,
      ...(event === undefined ? {} : { event: { type: event.type, payload: event.payload } }),
    },
  };
};

async function voterFor(host: Host, caller: Caller, run: Run, scenario: Scenario): Promise<Voter> {
  const answerer = await voterOf(host, caller, run.owner);
  return scenario === "unauthorized-grant" ? answerer : { ...answerer, roles: [...answerer.roles, ROLE] };
}

async function waitingRun(host: Host, caller: Caller, scenario: Scenario): Promise<Run> {
  const definition = workflowOf(scenario);
  const text = JSON.stringify(definition);
  await registerWorkflow(host, { caller, definition, text, record: () => undefined });
  const request = { workflowId: definition.id };
  const { runId } = await createRun(host, { caller, request, dedup: false, record: () => undefined });
  return untilWaiting(host, caller, runId);
}

const LONGEST_WAIT_MS = 5000;

/** The worker raises the gate; where none runs, the seam has nothing to look through. */
async function untilWaiting(host: Host, caller: Caller, runId: string): Promise<Run> {
  const untilMs = host.nowMs() + LONGEST_WAIT_MS;
  for (;;) {
    const run = await host.store.readRun(caller, runId);
    if (run !== undefined && openInterrupts(run).length > 0) return run;
    if (run === undefined || isTerminal(run.status) || host.nowMs() > untilMs) {
      throw new AppError("unavailable", { reason: "No worker raised the gate in time" });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function workflowOf(scenario: Scenario): WorkflowDefinition {
  const config = {
    requiredRole: ROLE,
    title: "Conformance gate",
    override: { requiredRole: ROLE, audited: true },
    ...(scenario === "override" ? { overrideBypassesQuorum: true } : {}),
    ...(scenario === "quorum" || scenario === "override" ? { quorum: 2 } : {}),
  };
  return {
    id: `conformance-governance-${scenario}`,
    name: "Conformance gate",
    version: "1",
    nodes: [
      {
        id: GATE,
        typeId: "core.openwop.governance.approvalGate",
        name: "Gate",
        position: { x: 0, y: 0 },
        config,
        inputs: {},
      },
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
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [],
    metadata: {},
    settings: {},
  } as WorkflowDefinition;
}
