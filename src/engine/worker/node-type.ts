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
  /** Checks of a config beyond the schema: returns the problem, or throws. */
  check?(config: Readonly<Record<string, unknown>>, ports: Ports): string | undefined;
  /** Config keys that need a capability, by key; refused without it, never ignored. */
  readonly gatedConfig?: Readonly<Record<string, string>>;
  /** Runtime capabilities without which the node is not executed. */
  readonly requires?: readonly string[];
  /** Capabilities of this host's model without which the node is not executed. */
  readonly requiredModelCapabilities?: readonly string[];
  /** Served only by a host with this capability. */
  readonly capability?: Capability;
  /** Whether such a node is a gate: a person decides or answers before it ends. */
  asksPerson?(config: Readonly<Record<string, unknown>>): boolean;
  /** Only the host starts runs with such a node: no registered workflow may have one, and no node dispatches it. */
  readonly hostOnly?: true;
  /** Whether the agent of such a node is only named in events and not called. */
  onlyNamesAgent?(config: Readonly<Record<string, unknown>>): boolean;
  /** How such a node uses an agent; absent where it does not. */
  readonly agent?: AgentUse;
}

export interface AgentUse {
  /** Whether such a node must name an agent. */
  readonly required: boolean;
  /** Whether a channel may be named in place of a version. */
  readonly channels: boolean;
  /** Why this agent cannot be called from this place; undefined where it can, as far as is known before the run. */
  refusal(visible: Visibility, ref: AgentRef): Promise<AgentRefusal | undefined>;
}

export interface AgentRefusal {
  readonly code: "agent_not_installed" | "no_active_deployment";
  readonly message: string;
}

/** A type that only computes. Its events share a commit with those of its neighbours; after a crash it is computed again. */
export interface PureNodeType extends NodeTypeBase {
  readonly kind: "pure";
  execute(context: NodeContext): NodeOutcome;
  /** The effect type of a node whose config gives it effects. */
  asEffect?(node: WorkflowNode): EffectNodeType | undefined;
}

/**
 * A type with effects outside the host. `node.started` is durable before the call. After a crash a new attempt starts; effects that must not
 * happen twice are guarded by an effect claim (`runs/effects.ts`).
 */
export interface EffectNodeType extends NodeTypeBase {
  readonly kind: "effect";
  execute(context: EffectContext): Promise<NodeOutcome>;
}

/** A kind of node: the shape of its config and its execution. The built-in types are in `nodes/`. */
export type NodeType = PureNodeType | EffectNodeType;

export interface NodeContext extends Interrupts {
  readonly node: WorkflowNode;
  readonly config: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly run: Run;
  /** The channels the workflow declares. */
  readonly channels: Readonly<Record<string, ChannelDeclaration>>;
  readonly attempt: number;
  /** Whether the node asked to sleep and is woken now. */
  readonly slept: boolean;
  /** Aborted when the run is cancelled, paused at once, or taken over. */
  readonly signal: AbortSignal;
  /** Whether a loop leads back from the node to the supervisor of the workflow. */
  isSupervised(): boolean;
  /** The version of a change that this run is pinned to: `max` at the first call, then the same. */
  getVersion(changeId: string, min: number, max: number): number;
}

export interface EffectContext extends NodeContext {
  /**
   * Writes events and their side writes in one commit while the node executes; resolves when they are durable. Rejects where the attempt no
   * longer counts: it was cancelled, or another worker has the run. Calls before the last one is durable share a commit, in order.
   */
  append(events: readonly EventDraft[], sideWrites?: SideWrites): Promise<void>;
  /** Adds events that are written in the commit of the attempt's outcome, before it; dropped where the attempt no longer counts. */
  atEnd(events: readonly EventDraft[]): void;
  /** The run with all events since the node began. */
  latest(): Run;
}

/** Writes that are committed together with events. */
export type SideWrites = Pick<Unit, "documents" | "audit">;

export type NodeTypes = ReadonlyMap<string, NodeType>;

/** The type that executes this node. */
export function typeOf(types: NodeTypes, node: WorkflowNode): NodeType | undefined {
  const type = types.get(node.typeId);
  return type?.kind === "pure" ? (type.asEffect?.(node) ?? type) : type;
}

/**
 * Whether a node calls anything outside the host: a model, a tool, a program, an endpoint. An unknown type counts as if it did. Child runs of
 * the node are not considered.
 */
export function hasEffects(types: NodeTypes, node: WorkflowNode): boolean {
  return typeOf(types, node)?.kind !== "pure";
}

/** Node types that need a capability; without it, a workflow that uses one is refused with the capability's name. */
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
