import type { RunEvent } from "../../protocol/events.ts";

/** One call of an agent, from the log of a run. */
export interface RecordedInvocation {
  readonly invocationId: string;
  readonly agentId: string;
  readonly agentVersion?: string;
  readonly nodeId: string;
  /** The sequence of the start of its node's attempt. */
  readonly attemptSequence: number;
  readonly from: number;
  /** The sequence of the last event of the call. */
  readonly to: number;
  readonly memoryBound: boolean;
  readonly ended: boolean;
  /** Absent where it came to none: it failed, or declined. */
  readonly answer?: { readonly value: unknown };
  readonly returned: readonly ReturnedTool[];
}

export interface ReturnedTool {
  readonly tool: string;
  readonly ok: boolean;
  readonly outcome: unknown;
}

type Open = { -readonly [K in keyof RecordedInvocation]: RecordedInvocation[K] } & { returned: ReturnedTool[] };

/**
 * Invocations in the order of their starts. A node asks one agent at a time, so an event of a node belongs to its open invocation.
 */
export function invocationsIn(events: readonly RunEvent[]): RecordedInvocation[] {
  const all: Open[] = [];
  const open = new Map<string, Open>();
  const attempts = new Map<string, number>();
  for (const { type, nodeId = "", sequence, payload } of events as readonly LoggedEvent[]) {
    if (type === "node.started") attempts.set(nodeId, sequence);
    if (type === "agent.invocation.started") {
      const begun = begin(nodeId, sequence, attempts.get(nodeId) ?? 0, payload);
      all.push(begun);
      open.set(nodeId, begun);
      continue;
    }
    const current = open.get(nodeId);
    if (current === undefined) continue;
    current.to = sequence;
    if (type === "agent.toolReturned") {
      const { toolName = "", status, outcome = null } = payload;
      current.returned.push({ tool: toolName, ok: (status ?? "ok") === "ok", outcome });
    }
    if (type === "agent.decided") current.answer = { value: payload.decision ?? null };
    if (type !== "agent.invocation.completed") continue;
    current.ended = true;
    open.delete(nodeId);
  }
  return all;
}

interface LoggedEvent {
  readonly type: string;
  readonly nodeId?: string;
  readonly sequence: number;
  readonly payload: Readonly<{
    invocationId?: string;
    agentId?: string;
    resolvedAgentVersion?: string;
    memoryBound?: boolean;
    toolName?: string;
    status?: string;
    outcome?: unknown;
    decision?: unknown;
  }>;
}

function begin(nodeId: string, sequence: number, attemptSequence: number, payload: LoggedEvent["payload"]): Open {
  const { invocationId = "", agentId = "", resolvedAgentVersion, memoryBound = false } = payload;
  return {
    invocationId,
    agentId,
    ...(resolvedAgentVersion === undefined ? {} : { agentVersion: resolvedAgentVersion }),
    nodeId,
    attemptSequence,
    from: sequence,
    to: sequence,
    memoryBound,
    ended: false,
    returned: [],
  };
}
