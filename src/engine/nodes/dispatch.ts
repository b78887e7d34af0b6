import { defined } from "../../protocol/defined.ts";
import { childrenOfVisit } from "../../protocol/evolve/children.ts";
import { own } from "../../protocol/own.ts";
import {
  CONFIDENCE_FLOOR,
  DISPATCH,
  DispatchConfig,
  type OrchestratorDecision,
} from "../../protocol/runs/orchestrator.ts";
import { type Child, type Run, visitOf } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { harvested } from "../runs/decide/chain-event.ts";
import type { Harvest } from "../runs/decide/settle-node.ts";
import type { NodeContext, NodeOutcome, NodeType } from "../worker/node-type.ts";
import { failureCode, mapped, maskedBy } from "./sub-workflow.ts";

type NextWorker = Extract<OrchestratorDecision, { kind: "next-worker" }>;

/** Executes the last decision of the run's supervisor. Decisions are data: the workflow itself does not change. */
export const dispatch: NodeType = {
  kind: "pure",
  typeId: DISPATCH,
  summary: "Does what the supervisor decided: runs workers one after the other, asks a person, or ends the loop.",
  config: DispatchConfig,
  capability: "orchestrator",
  check: ({ askUserRouting }) =>
    askUserRouting === "conversation"
      ? "/askUserRouting needs conversationPrimitive, which this host does not serve; use clarification or auto"
      : undefined,
  execute: (context) => {
    const decision = context.run.orchestrator?.decision;
    if (decision === undefined) {
      const message = `No supervisor has decided anything that node ${context.node.id} could do.`;
      return { type: "failed", error: { code: "orchestrator_decision_missing", message } };
    }
    if (!mayProceed(context, decision)) return declined(context, decision);
    switch (decision.kind) {
      case "terminate":
        return { type: "completed", outputs: { ...decision } };
      case "ask-user":
        return ask(context, decision.prompt);
      case "next-worker":
        return runWorkers(context, decision);
    }
  },
};

/** Whether the decision may be executed: one with little confidence needs the consent of a person. */
function mayProceed({ node, run, interrupt }: NodeContext, decision: OrchestratorDecision): boolean {
  const confidence = decision.kind === "ask-user" ? undefined : decision.confidence;
  if (confidence === undefined || confidence >= CONFIDENCE_FLOOR) return true;
  const [workerId] = decision.kind === "next-worker" ? decision.nextWorkerIds : [];
  const value = interrupt({
    kind: "clarification",
    data: {
      contextType: "low-confidence",
      questions: [{ id: "proceed", question: questionAbout(decision), schema: { enum: ["yes", "no"] } }],
    },
    announcing: [
      {
        type: "core.workflowChain.confidence-escalated",
        nodeId: node.id,
        payload: {
          confidence,
          floor: CONFIDENCE_FLOOR,
          escalationKind: "clarify",
          ...defined({ workerId }),
          parentRunId: run.runId,
          originalDecision: decision,
        },
      },
    ],
  });
  return (value as { answers: { proceed: string } }).answers.proceed === "yes";
}

const LONGEST_LIST = 500;

function questionAbout(decision: OrchestratorDecision): string {
  const what =
    decision.kind === "next-worker" ? `run ${decision.nextWorkerIds.join(", ").slice(0, LONGEST_LIST)}` : "end the run";
  const confidence = decision.kind === "ask-user" ? undefined : decision.confidence;
  return `The supervisor wants to ${what}, with a confidence of ${confidence}. Go on (yes), or let it decide again (no)?`;
}

/** The outcome of a declined decision: the supervisor decides again, and where no loop leads back to it the node fails. */
function declined({ node, isSupervised }: NodeContext, decision: OrchestratorDecision): NodeOutcome {
  if (isSupervised()) return { type: "completed", outputs: { kind: "declined", decision } };
  const message = `What node ${node.id} would have done was declined, and no loop leads back to its supervisor.`;
  return { type: "failed", error: { code: "approval_rejected", message } };
}

function ask({ interrupt }: NodeContext, prompt: string): NodeOutcome {
  const value = interrupt({
    kind: "clarification",
    data: { contextType: "ask-user", questions: [{ id: "answer", question: prompt }] },
  });
  const { answer } = (value as { answers: { answer: unknown } }).answers;
  return { type: "completed", outputs: { kind: "ask-user", prompt, answer } };
}

/** Runs the workers one after the other, each with the results of those before it. */
function runWorkers(context: NodeContext, { nextWorkerIds }: NextWorker): NodeOutcome {
  const { node, config, run } = context;
  const settings = config as DispatchConfig;
  if (settings.fanOutPolicy === "reject" && nextWorkerIds.length > 1) {
    const message = `Node ${node.id} takes one worker at a time, and ${nextWorkerIds.length} were decided on.`;
    return { type: "failed", error: { code: "fan_out_unsupported", message } };
  }
  const begun = childrenOfVisit(run.children, node.id, visitOf(run, node.id));
  const [childRunId, child] = begun.at(-1) ?? [];
  if (childRunId === undefined || child === undefined) return start(settings, run, nextWorkerIds[0] ?? "");
  // A repeated attempt continues with the worker that it has.
  if (!isTerminal(child.status)) return { ...start(settings, run, child.workflowId), childRunId };
  const left = nextWorkerIds.slice(begun.length);
  const outputs = { kind: "next-worker", workerId: child.workflowId, childRunId, childStatus: child.status };
  if (child.status !== "completed" || child.result?.error !== undefined) {
    // Later workers may depend on the failed one, so the supervisor decides again.
    const error = errorOf(childRunId, child);
    if (!context.isSupervised()) return { type: "failed", error };
    return { type: "completed", outputs: { ...outputs, error, notStarted: left } };
  }
  const harvest = harvestOf(settings, childRunId, child);
  const [next] = left;
  if (next !== undefined) {
    const after = { ...run, variables: { ...run.variables, ...harvest.variables } };
    return { ...start(settings, after, next), harvest };
  }
  const { variables, sensitive, events } = harvest;
  return {
    type: "completed",
    outputs: { ...outputs, outputs: child.result?.outputs ?? {} },
    variables,
    events,
    ...(sensitive.length === 0 ? {} : { sensitive }),
  };
}

function start(settings: DispatchConfig, run: Run, workflowId: string) {
  const inputMapping = own(settings.perWorkerInputMappings, workflowId) ?? settings.inputMapping ?? {};
  return {
    type: "dispatch" as const,
    workflowId,
    inputs: mapped(inputMapping, run.variables),
    inputsFrom: inputMapping,
    takes: [...new Set(Object.values(outputMappingOf(settings, workflowId)))],
    waits: true,
    propagates: true,
    chained: true as const,
  };
}

function outputMappingOf(settings: DispatchConfig, workflowId: string) {
  return own(settings.perWorkerOutputMappings, workflowId) ?? settings.outputMapping ?? {};
}

function harvestOf(settings: DispatchConfig, childRunId: string, child: Child): Harvest {
  const mapping = outputMappingOf(settings, child.workflowId);
  const variables = mapped(mapping, child.result?.variables ?? {});
  const events = Object.keys(mapping).length === 0 ? [] : harvested(childRunId, child, Object.keys(variables));
  return { events, variables, sensitive: maskedBy(mapping, child.result?.sensitive ?? []) };
}

function errorOf(childRunId: string, child: Child) {
  const { status, result, workflowId } = child;
  const message = result?.error?.message ?? `Run ${childRunId} of worker ${workflowId} was ${status}.`;
  const details = defined({ childRunId, childError: result?.error });
  return { code: failureCode(child), message, details };
}
