import { defined } from "../../../protocol/defined.ts";
import type { EventDraft, RunError } from "../../../protocol/events.ts";
import { MASK } from "../../../protocol/events.ts";
import { own } from "../../../protocol/own.ts";
import { reducerProblem } from "../../../protocol/runs/channel.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import type { ChannelDeclaration, WorkflowNode } from "../../../protocol/workflows/workflow.ts";
import type { Plan } from "../../workflows/decide/plan.ts";

export interface ChannelWrite {
  readonly channel: string;
  readonly value: unknown;
  /** The rules of a channel that the workflow does not declare. */
  readonly undeclared?: Pick<ChannelDeclaration, "reducer" | "ttlMs" | "maxSize">;
  readonly schemaVersion?: number;
}

/**
 * The events of one write, or its error. Opening a channel is recorded before its first write; `openedBefore` names channels that earlier,
 * not yet folded writes opened.
 */
export function writeChannel(
  plan: Plan,
  run: Run,
  node: WorkflowNode,
  write: ChannelWrite,
  at: string,
  openedBefore: ReadonlySet<string>,
): { readonly events: EventDraft[] } | { readonly error: RunError } {
  const declared = own(plan.definition.channels, write.channel);
  const rules = declared ?? write.undeclared ?? { reducer: "replace" };
  const refusal = refused(plan, declared, node, write, rules.reducer);
  if (refusal) return { error: refusal };
  const events: EventDraft[] = [];
  if (own(run.channels, write.channel) === undefined && !openedBefore.has(write.channel))
    events.push(opened(write.channel, node.id, rules, declared));
  events.push(written(node.id, write, rules.reducer, declared, at));
  return { events };
}

function refused(
  plan: Plan,
  declared: ChannelDeclaration | undefined,
  node: WorkflowNode,
  write: ChannelWrite,
  reducer: string,
): RunError | undefined {
  const { channel, value } = write;
  if (declared && !mayWrite(declared, node)) {
    return { code: "channel_access_denied", message: `Node ${node.id} may not write channel ${channel}.` };
  }
  const current = declared?.schemaVersion ?? 1;
  const version = write.schemaVersion ?? current;
  if (version !== current && !declared?.compatibleWith?.includes(version)) {
    return {
      code: "channel_schema_breaking_change",
      message: `Channel ${channel} is at schema version ${current}; a write of version ${version} is not compatible.`,
    };
  }
  const unfit = reducerProblem(reducer, value);
  if (unfit) return { code: "channel_schema_violation", message: `Channel ${channel}: ${unfit}.` };
  const schema = plan.channelSchemas.get(channel);
  const problem = schema && !describesWhole(declared) ? schema(value)[0] : undefined;
  if (problem) {
    return {
      code: "channel_schema_violation",
      message: `The value for channel ${channel} does not match its schema: ${problem.path} ${problem.problem}.`,
    };
  }
  return undefined;
}

/** Whether the schema of a list channel describes the folded list, not each written value. */
function describesWhole(declared: ChannelDeclaration | undefined): boolean {
  const lists = ["append", "votes", "feedback", "message"];
  return declared !== undefined && lists.includes(declared.reducer) && declared.schema?.["type"] === "array";
}

/** Whether a node is among the writers of a channel, which are node ids and type ids; a type id may end with `*`. */
function mayWrite(declared: ChannelDeclaration, node: WorkflowNode): boolean {
  const { access } = declared;
  if (access === undefined || access === "public" || access === "private") return true;
  if (access.writers === undefined) return true;
  return access.writers.some((allowed) =>
    allowed.endsWith("*")
      ? node.typeId.startsWith(allowed.slice(0, -1))
      : allowed === node.id || allowed === node.typeId,
  );
}

function opened(
  channel: string,
  nodeId: string,
  rules: Pick<ChannelDeclaration, "reducer" | "ttlMs" | "maxSize">,
  declared: ChannelDeclaration | undefined,
): EventDraft {
  const payload = {
    channel,
    reducer: rules.reducer,
    ...defined({ maxSize: rules.maxSize, ttlMs: rules.ttlMs }),
    ...(declared?.default === undefined ? {} : { default: declared.default }),
    ...(declared?.sensitive ? { sensitive: true } : {}),
  };
  if (!declared?.sensitive || declared.default === undefined) return { type: "assay.channel.opened", nodeId, payload };
  return { type: "assay.channel.opened", nodeId, payload: { ...payload, default: MASK }, sealed: payload };
}

function written(
  nodeId: string,
  write: ChannelWrite,
  reducer: string,
  declared: ChannelDeclaration | undefined,
  at: string,
): EventDraft {
  const payload = {
    channel: write.channel,
    value: write.value,
    reducer,
    writtenAt: at,
    nodeId,
    ...(declared === undefined ? {} : { schemaVersion: write.schemaVersion ?? declared.schemaVersion ?? 1 }),
  };
  if (!declared?.sensitive) return { type: "channel.written", nodeId, payload };
  return { type: "channel.written", nodeId, payload: { ...payload, value: MASK }, sealed: payload };
}
