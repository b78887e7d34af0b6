import { defined } from "../../../protocol/defined.ts";
import { type EventDraft, MASK, type RunError } from "../../../protocol/events.ts";
import { nodeOf, type Run, type Verdict } from "../../../protocol/runs/run.ts";
import { maskFields } from "../../../protocol/runs/snapshot.ts";
import type { WorkflowNode } from "../../../protocol/workflows/workflow.ts";
import type { InterruptRequest } from "../../gates/decide/raise-interrupt.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import { type ChannelWrite, writeChannel } from "./write-channel.ts";

/** The outcome of an attempt of a node. */
export type NodeOutcome =
  | {
      readonly type: "completed";
      readonly outputs?: Readonly<Record<string, unknown>>;
      readonly variables?: Readonly<Record<string, unknown>>;
      /** Names of variables that are masked from now on, also where the definition does not mask them. */
      readonly sensitive?: readonly string[];
      readonly channels?: readonly ChannelWrite[];
      readonly events?: readonly EventDraft[];
      /** The verdict of a gate that was not passed. */
      readonly verdict?: Verdict;
    }
  | { readonly type: "failed"; readonly error: RunError }
  /** Sleeps without a worker; the node is called again with `slept`. */
  | { readonly type: "sleep"; readonly forMs: number }
  /** Waits for an answer to an interrupt; the node is called again when there is one. */
  | { readonly type: "suspend"; readonly request: InterruptRequest & { readonly key: string } }
  | Dispatching;

/** Starts a run of another workflow, or continues to wait for the run that it started in this visit. */
export interface Dispatching {
  readonly type: "dispatch";
  readonly childRunId?: string;
  readonly workflowId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The variables of this run that inputs are taken from, by input. */
  readonly inputsFrom: Readonly<Record<string, string>>;
  /** Names of the child's variables that are returned. */
  readonly takes: readonly string[];
  readonly waits: boolean;
  readonly propagates: boolean;
  /** Set for workers: each step of the dispatch is recorded. */
  readonly chained?: true;
  /** Results of the previous child, which are written first. */
  readonly harvest?: Harvest;
}

export interface Harvest {
  readonly events: readonly EventDraft[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly sensitive: readonly string[];
}

/** Outcomes that are settled by the node's own events alone. */
type SimpleOutcome = Exclude<NodeOutcome, { type: "suspend" | "dispatch" }>;

/** The events of an outcome, up to the node's own. Whether the run ends is decided afterwards. */
export function settleNode(plan: Plan, run: Run, node: WorkflowNode, outcome: SimpleOutcome, at: string): EventDraft[] {
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
        ...variableEvents(plan, run, nodeId, outcome.variables ?? {}, outcome.sensitive ?? []),
        ...written.events,
        completed(plan, nodeId, outcome),
      ];
    }
  }
}

export function harvestEvents(plan: Plan, run: Run, nodeId: string, harvest: Harvest): EventDraft[] {
  return [...harvest.events, ...variableEvents(plan, run, nodeId, harvest.variables, harvest.sensitive)];
}

function completed(
  plan: Plan,
  nodeId: string,
  { outputs = {}, verdict }: Extract<NodeOutcome, { type: "completed" }>,
): EventDraft {
  const payload = { nodeId, outputs: { ...outputs }, ...defined({ verdict }) };
  const masked = plan.sensitivity.outputs.get(nodeId);
  if (!masked) return { type: "node.completed", nodeId, payload };
  return {
    type: "node.completed",
    nodeId,
    payload: { ...payload, outputs: maskFields(outputs, masked) },
    sealed: payload,
  };
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** A retryable error is tried again, with growing delays, as often as the settings of node or workflow allow. */
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

/** Events for the variables whose value changes. */
function variableEvents(
  plan: Plan,
  run: Run,
  nodeId: string,
  variables: Readonly<Record<string, unknown>>,
  fromSensitive: readonly string[],
): EventDraft[] {
  const events: EventDraft[] = [];
  const isHidden = sensitiveIn(plan, run);
  const newlyHidden = new Set(fromSensitive);
  for (const [name, next] of Object.entries(variables)) {
    const known = Object.hasOwn(run.variables, name);
    const previous = run.variables[name];
    const hidden = isHidden(name);
    const becomesHidden = newlyHidden.has(name) && !hidden;
    if (known && !becomesHidden && deepEqual(previous, next)) continue;
    const payload = {
      name,
      ...(known ? { previous } : {}),
      next,
      nodeId,
      ...(becomesHidden ? { sensitive: true as const } : {}),
    };
    if (!becomesHidden && !hidden) {
      events.push({ type: "variable.changed", nodeId, payload });
      continue;
    }
    const shown = { ...payload, ...(known && hidden ? { previous: MASK } : {}), next: MASK };
    events.push({ type: "variable.changed", nodeId, payload: shown, sealed: payload });
  }
  return events;
}

/** Whether a variable of the run is masked by name. */
export function sensitiveIn({ sensitivity }: Plan, run: Run): (name: string) => boolean {
  const more = new Set(run.sensitive);
  return (name) => sensitivity.variables.has(name) || more.has(name);
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
