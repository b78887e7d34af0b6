import { type EventDraft, MASK, type RunError } from "../../protocol/events.ts";
import { nodeOf, type Run } from "../../protocol/run.ts";
import { maskFields } from "../../protocol/snapshot.ts";
import type { WorkflowNode } from "../../protocol/workflow.ts";
import { deepEqual } from "./deep-equal.ts";
import type { Plan } from "./plan.ts";
import { type ChannelWrite, writeChannel } from "./write-channel.ts";

/** What an attempt of a node came to. */
export type NodeOutcome =
  | {
      readonly type: "completed";
      readonly outputs?: Readonly<Record<string, unknown>>;
      readonly variables?: Readonly<Record<string, unknown>>;
      readonly channels?: readonly ChannelWrite[];
      readonly events?: readonly EventDraft[];
    }
  | { readonly type: "failed"; readonly error: RunError }
  /** Sleeps without holding a worker; the node is called again with `slept`. */
  | { readonly type: "sleep"; readonly forMs: number };

/** The events of an attempt's outcome, up to and including the node's own. Whether the run ends is decided after. */
export function settleNode(plan: Plan, run: Run, node: WorkflowNode, outcome: NodeOutcome, at: string): EventDraft[] {
  const nodeId = node.id;
  switch (outcome.type) {
    case "sleep":
      return [{ type: "assay.timer.set", nodeId, payload: { nodeId, delayMs: Math.max(0, Math.ceil(outcome.forMs)) } }];
    case "failed":
      return failed(plan, run, node, outcome.error);
    case "completed": {
      const written = channelEvents(plan, run, node, outcome.channels ?? [], at);
      if ("error" in written) return failed(plan, run, node, written.error);
      return [
        ...(outcome.events ?? []),
        ...variableEvents(plan, run, nodeId, outcome.variables ?? {}),
        ...written.events,
        completed(plan, nodeId, outcome.outputs ?? {}),
      ];
    }
  }
}

function completed(plan: Plan, nodeId: string, outputs: Readonly<Record<string, unknown>>): EventDraft {
  const payload = { nodeId, outputs: { ...outputs } };
  const masked = plan.sensitivity.outputs.get(nodeId);
  if (!masked) return { type: "node.completed", nodeId, payload };
  return {
    type: "node.completed",
    nodeId,
    payload: { nodeId, outputs: maskFields(outputs, masked) },
    sealed: payload,
  };
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** An error that says it may pass is tried again, with growing delays, as often as the workflow's settings allow. */
function failed(plan: Plan, run: Run, node: WorkflowNode, error: RunError): EventDraft[] {
  const nodeId = node.id;
  const attempt = nodeOf(run, nodeId)?.attempt ?? 0;
  const retries = setting(node, "maxRetries") ?? plan.definition.settings.maxRetries ?? 0;
  if (error.retryable === true && attempt < retries) {
    const first = setting(node, "retryDelayMs") ?? FIRST_RETRY_MS;
    const delayMs = Math.min(LONGEST_RETRY_MS, Math.ceil(first * 2 ** attempt));
    return [{ type: "node.retried", nodeId, payload: { nodeId, attempt: attempt + 1, delayMs, lastError: error } }];
  }
  return [{ type: "node.failed", nodeId, payload: { nodeId, error, attempts: attempt + 1 } }];
}

function setting(node: WorkflowNode, name: string): number | undefined {
  const value = node.settings?.[name];
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** A variable that keeps its value changes nothing. */
function variableEvents(
  plan: Plan,
  run: Run,
  nodeId: string,
  variables: Readonly<Record<string, unknown>>,
): EventDraft[] {
  const events: EventDraft[] = [];
  for (const [name, next] of Object.entries(variables)) {
    const known = Object.hasOwn(run.variables, name);
    const previous = run.variables[name];
    if (known && deepEqual(previous, next)) continue;
    const payload = { name, ...(known ? { previous } : {}), next, nodeId };
    if (!plan.sensitivity.variables.has(name)) {
      events.push({ type: "variable.changed", nodeId, payload });
      continue;
    }
    const shown = { name, ...(known ? { previous: MASK } : {}), next: MASK, nodeId };
    events.push({ type: "variable.changed", nodeId, payload: shown, sealed: payload });
  }
  return events;
}

function channelEvents(
  plan: Plan,
  run: Run,
  node: WorkflowNode,
  writes: readonly ChannelWrite[],
  at: string,
): { events: EventDraft[] } | { error: RunError } {
  const events: EventDraft[] = [];
  const opened = new Set<string>();
  for (const write of writes) {
    const one = writeChannel(plan, run, node, write, at, opened);
    if ("error" in one) return one;
    events.push(...one.events);
    opened.add(write.channel);
  }
  return { events };
}
