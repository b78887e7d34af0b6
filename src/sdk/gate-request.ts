import type { Client } from "./client.ts";
import { AssayError, ConnectionError } from "./errors.ts";
import type { CallOptions, StreamOptions } from "./settings.ts";

/** What is asked, and of whom. Without approvers, anybody with the scope `approvals:respond` decides. */
export interface GateRequest {
  readonly title: string;
  readonly description?: string;
  /** What is decided on; votes are bound to it. */
  readonly artifact?: unknown;
  /** `["accept", "reject"]` */
  readonly actions?: readonly ("accept" | "reject" | "refine" | "edit-accept" | "ask")[];
  /** How many must accept. 1. */
  readonly requiredApprovals?: number;
  readonly approversList?: readonly string[];
  readonly approverGroupRefs?: readonly string[];
  readonly approverRoleRefs?: readonly string[];
  /** How many of those who accept must be people. */
  readonly minHumans?: number;
  /** The principal of this client's key cannot accept. */
  readonly forbidSelfApproval?: boolean;
  /** When nobody has decided by then, the answer is no. */
  readonly timeoutMs?: number;
}

export interface GateDecision {
  readonly approved: boolean;
  /** `accept`, `reject` and so on; `timeout` when time ran out, `cancelled` when the request was withdrawn. */
  readonly action: string;
  /** As it was decided on: with the edits of an `edit-accept`. */
  readonly artifact: unknown;
  /** The voter; of several voters, how many of how many. */
  readonly decidedBy: string | undefined;
  /** Why it was not approved, where that was said. */
  readonly reason: string | undefined;
}

/** A request for a decision. It lives on the server: `gates.attach(id)` takes it up again in another process. */
export interface GateHandle {
  /** The run that waits. */
  readonly id: string;
  /** Waits for the decision, however long that takes. A decision that was made before is there at once. */
  decision(options?: StreamOptions): Promise<GateDecision>;
  /** Withdraws the request. */
  cancel(reason?: string): Promise<void>;
}

export interface GateCalls {
  /** Asks people, or agents, for a decision. Needs the scopes `workflows:write`, `runs:create` and `runs:read`. */
  request(request: GateRequest, options?: CallOptions): Promise<GateHandle>;
  /** The request with this id. */
  attach(id: string): GateHandle;
}

const NODE = "gate";

export function gateCalls(client: Client): GateCalls {
  return {
    async request({ artifact, ...config }, options) {
      const workflow = workflowOf(config, artifact !== undefined);
      const { idempotencyKey: _, ...rest } = options ?? {};
      const { hash } = await client.workflows.register(workflow, rest);
      const { runId } = await client.runs.start({ workflowId: workflow.id, inputs: { artifact } }, options);
      await requireAsked(client, runId, hash, rest);
      return handleOf(client, runId);
    },
    attach: (id) => handleOf(client, id),
  };
}

/** Throws where somebody registered something else under this id in between: what a run waits for has to be what was asked. */
async function requireAsked(client: Client, id: string, hash: string, options: CallOptions): Promise<void> {
  const [started] = (await client.runs.poll(id, {}, options)).events;
  const { workflowHash } = (started?.payload ?? {}) as { readonly workflowHash?: unknown };
  if (workflowHash === hash) return;
  throw new AssayError(`Run ${id} does not ask what was requested: its workflow was replaced by somebody else`);
}

function handleOf(client: Client, id: string): GateHandle {
  return {
    id,
    decision: (options) => decisionOf(client, id, options),
    cancel: async (reason) => void (await client.runs.cancel(id, reason === undefined ? {} : { reason })),
  };
}

async function decisionOf(client: Client, id: string, options?: StreamOptions): Promise<GateDecision> {
  let outputs: Readonly<Record<string, unknown>> = {};
  for await (const frame of client.runs.follow(id, {}, options)) {
    if (frame.event === "node.completed" && frame.data.payload.nodeId === NODE) outputs = frame.data.payload.outputs;
    if (frame.event === "run.completed") return decided(outputs);
    if (frame.event === "run.failed") return refused(frame.data.payload.error);
    if (frame.event === "run.cancelled") return closed("cancelled", frame.data.payload.reason);
  }
  throw new ConnectionError("The wait for the decision was ended before there was one");
}

function decided(outputs: Readonly<Record<string, unknown>>): GateDecision {
  const { approved, action, artifact, decidedBy } = outputs;
  return {
    approved: approved === true,
    action: String(action),
    artifact,
    decidedBy: typeof decidedBy === "string" ? decidedBy : undefined,
    reason: undefined,
  };
}

const REFUSALS = new Map([
  ["interrupt_timeout", "timeout"],
  ["approval_rejected", "reject"],
]);

function refused({ code, message }: { readonly code: string; readonly message: string }): GateDecision {
  const action = REFUSALS.get(code);
  if (action === undefined) throw new AssayError(`The request failed before there was a decision: ${message}`);
  return closed(action, message);
}

function closed(action: string, reason: string | undefined): GateDecision {
  return { approved: false, action, artifact: undefined, decidedBy: undefined, reason };
}

/** A workflow of one gate. The same question to the same people is the same workflow. */
function workflowOf(config: Omit<GateRequest, "artifact">, hasArtifact: boolean) {
  const name = config.title.slice(0, 100);
  const node = {
    id: NODE,
    typeId: "core.approvalGate",
    name,
    position: { x: 0, y: 0 },
    config: { ...config },
    inputs: hasArtifact ? { artifact: { type: "variable" as const, variableName: "artifact" } } : {},
  };
  const none = { edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
  return { id: `gate-request-${digest(JSON.stringify(node))}`, name, version: "1", nodes: [node], ...none };
}

/** FNV-1a, 64 bits: to tell questions apart, not to keep a secret. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
