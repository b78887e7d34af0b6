import type { EventDraft } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Capability } from "../../protocol/operation.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { TSchema } from "../../protocol/schema.ts";
import type { AgentRef, ChannelDeclaration, PortValue, WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { Unit } from "../../store/port/store.ts";
import type { NodeOutcome } from "../runs/decide/settle-node.ts";
import type { Interrupts } from "./suspension.ts";

export type { NodeOutcome } from "../runs/decide/settle-node.ts";

/** The input ports of a node by name: where the value comes from, or "edge" when a forward edge carries it. */
export type Ports = Readonly<Record<string, PortValue | "edge">>;

interface NodeTypeBase {
  readonly typeId: string;
  readonly summary: string;
  /** Checked when a workflow is registered. Open unless the type says otherwise: fixtures carry extra keys. */
  readonly config: TSchema;
  /** What the schema alone cannot see: says what is wrong with a config, or throws it. */
  check?(config: Readonly<Record<string, unknown>>, ports: Ports): string | undefined;
  /** Config keys that ask for something only a host with the named capability does; refused, never ignored. */
  readonly gatedConfig?: Readonly<Record<string, string>>;
  /** Runtime capabilities without which the node is never dispatched. */
  readonly requires?: readonly string[];
  /** What the model of this host must be able to do, or the node is never dispatched. */
  readonly requiredModelCapabilities?: readonly string[];
  /** Served only by a host with this capability. */
  readonly capability?: Capability;
  /** Whether such a node is a gate: a person decides or answers before it ends. */
  asksPerson?(config: Readonly<Record<string, unknown>>): boolean;
  /** Only the host makes runs with such a node: no workflow that somebody registers may have one, and nothing dispatches it. */
  readonly hostOnly?: true;
  /** Whether the agent of such a node is only named in what is recorded, and nobody is asked. */
  onlyNamesAgent?(config: Readonly<Record<string, unknown>>): boolean;
  /** What such a node does with an agent; absent where it has no use for one. */
  readonly agent?: AgentUse;
}

export interface AgentUse {
  /** There is no such node without an agent. */
  readonly required: boolean;
  /** Whether a channel may be named in place of a version. */
  readonly channels: boolean;
  /** Why this agent cannot be asked by whoever sees this; undefined when it can, as far as one can tell before there is a run. */
  refusal(visible: Visibility, ref: AgentRef): Promise<AgentRefusal | undefined>;
}

export interface AgentRefusal {
  readonly code: "agent_not_installed" | "no_active_deployment";
  readonly message: string;
}

/** Only computes. Its events share a commit with its neighbours'; after a crash it is simply computed again. */
export interface PureNodeType extends NodeTypeBase {
  readonly kind: "pure";
  execute(context: NodeContext): NodeOutcome;
  /** Where this very node has something to do with the outside world after all. */
  asEffect?(node: WorkflowNode): EffectNodeType | undefined;
}

/**
 * Touches the outside world. `node.started` is durable before the call; after a crash a fresh attempt starts, and
 * what must not happen twice is guarded by an effect claim (effects.ts).
 */
export interface EffectNodeType extends NodeTypeBase {
  readonly kind: "effect";
  execute(context: EffectContext): Promise<NodeOutcome>;
}

/** One kind of node: one file in `nodes/`, with the shape of its config and what it does. */
export type NodeType = PureNodeType | EffectNodeType;

export interface NodeContext extends Interrupts {
  readonly node: WorkflowNode;
  readonly config: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly run: Run;
  /** The channels the workflow declares. */
  readonly channels: Readonly<Record<string, ChannelDeclaration>>;
  readonly attempt: number;
  /** True when the node asked to sleep and its time has come. */
  readonly slept: boolean;
  /** Aborted when the run is cancelled, paused at once, or taken over. */
  readonly signal: AbortSignal;
  /** Whether a loop leads back from the node to the supervisor of the workflow. */
  isSupervised(): boolean;
  /** The version of a change this run is pinned to: `max` when first asked, the same ever after. */
  getVersion(changeId: string, min: number, max: number): number;
}

export interface EffectContext extends NodeContext {
  /**
   * Writes events of the node while it executes, and what belongs to them, in one commit; resolves when that is durable.
   * Rejects when the attempt no longer counts: it was cancelled, or another worker has the run. Calls made before the
   * last one is durable share a commit, in order.
   */
  append(events: readonly EventDraft[], beside?: Beside): Promise<void>;
  /** Events that are written with the outcome of the attempt, in one commit and before it; not at all where the attempt no longer counts. */
  atEnd(events: readonly EventDraft[]): void;
  /** The run with all that was written since the node began, by whichever of its nodes. */
  latest(): Run;
}

/** What is written with events, or not at all. */
export type Beside = Pick<Unit, "documents" | "audit">;

export type NodeTypes = ReadonlyMap<string, NodeType>;

/** How this node is executed. */
export function typeOf(types: NodeTypes, node: WorkflowNode): NodeType | undefined {
  const type = types.get(node.typeId);
  return type?.kind === "pure" ? (type.asEffect?.(node) ?? type) : type;
}

/**
 * Whether a node calls anything outside the host: a model, a tool, a program, an endpoint. A type that is unknown here
 * is taken to do so. What a node dispatches is not asked about.
 */
export function hasEffects(types: NodeTypes, node: WorkflowNode): boolean {
  return typeOf(types, node)?.kind !== "pure";
}

/** Node types that other capabilities would bring; a workflow that uses one is refused with the capability's name. */
export const GATED_TYPES: Readonly<Record<string, string>> = {
  "core.conversationGate": "conversationPrimitive",
  "core.orchestrator.supervisor": "orchestrator.supported",
  "core.dispatch": "dispatch.supported",
  "core.conformance.mock-agent": "conformance.mockAgent",
  "assay.agent": "agents.liveRuntime.supported",
  "core.ai.callPrompt": "agents.liveRuntime.supported",
  "core.ai.structuredOutput": "agents.liveRuntime.supported",
  "core.conformance.side-effect": "the conformance seams",
  "conformance.secret.echo": "secrets.supported",
  "conformance.modelCapability.insufficient": "modelCapabilities.supported",
};
