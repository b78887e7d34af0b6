import { defined } from "../defined.ts";
import type { EventDraft, RunEvent } from "../events.ts";
import { own } from "../own.ts";
import type { OrchestratorDecision } from "../runs/orchestrator.ts";

/** The agents of a run, and the versions that its channels resolved to. */
export interface RunAgent {
  /** Of the latest invocation. */
  readonly agentId: string;
  readonly version?: string;
  readonly sourceManifestId?: string;
  /** Versions by `channelKey`: a channel is resolved once per run. */
  readonly channels?: Readonly<Record<string, string>>;
  /** Invocations that have begun and not ended. A list: it is copied with each of them. */
  readonly open?: readonly OpenInvocation[];
  /** Each agent that the host called, once per node that called it, in order. Absent in runs of earlier versions. */
  readonly called?: readonly CalledAgent[];
}

export interface CalledAgent {
  readonly agentId: string;
  readonly nodeId: string;
}

export interface OpenInvocation {
  readonly invocationId: string;
  readonly nodeId: string;
  readonly agentId: string;
}

export function channelKey(agentId: string, channel: string): string {
  return JSON.stringify([agentId, channel]);
}

/** The version that the channel resolved to in this run, if it was resolved before. */
export function pinnedVersion({ agent }: { readonly agent?: RunAgent }, agentId: string, channel: string) {
  return own(agent?.channels ?? {}, channelKey(agentId, channel));
}

/** Whether it would settle what is settled: of two nodes that ask at the same time, the first has done so. */
export function pinsAgain(run: { readonly agent?: RunAgent }, { type, payload }: Pick<EventDraft, "type" | "payload">) {
  if (type !== "assay.agent.pinned") return false;
  const { agentId, channel } = payload as { readonly agentId: string; readonly channel: string };
  return pinnedVersion(run, agentId, channel) !== undefined;
}

export function pinAgent(
  before: RunAgent | undefined,
  { payload: { agentId, channel, version } }: Extract<RunEvent, { type: "assay.agent.pinned" }>,
): RunAgent {
  const channels = { [channelKey(agentId, channel)]: version, ...before?.channels };
  return { ...(before ?? { agentId, version }), channels };
}

export function evolveAgent(
  before: RunAgent | undefined,
  event: Extract<RunEvent, { type: "agent.invocation.started" }>,
): RunAgent {
  const { invocationId, agentId, resolvedAgentVersion: version, sourceManifestId } = event.payload;
  const { resolvedChannel: channel } = event.payload;
  const nodeId = event.nodeId ?? "";
  const channels =
    channel === undefined || version === undefined
      ? before?.channels
      : { [channelKey(agentId, channel)]: version, ...before?.channels };
  return {
    agentId,
    ...defined({ version, sourceManifestId, channels }),
    open: [...(before?.open ?? []), { invocationId, nodeId, agentId }],
    called: withCall(before?.called ?? [], { agentId, nodeId }),
  };
}

function withCall(called: readonly CalledAgent[], call: CalledAgent): readonly CalledAgent[] {
  const isKnown = called.some(({ agentId, nodeId }) => agentId === call.agentId && nodeId === call.nodeId);
  return isKnown ? called : [...called, call];
}

export function endInvocation(
  before: RunAgent | undefined,
  { payload: { invocationId } }: Extract<RunEvent, { type: "agent.invocation.completed" }>,
): RunAgent | undefined {
  if (before?.open === undefined) return before;
  const { open, ...rest } = before;
  const others = open.filter((one) => one.invocationId !== invocationId);
  return others.length === 0 ? rest : { ...rest, open: others };
}

/** The supervisor of a run and its last decision. */
export interface Orchestrator {
  /** Of the first decision, and the same ever after. */
  readonly agentId: string;
  /** How many decisions there were. */
  readonly turns: number;
  readonly decision: OrchestratorDecision;
  /** The event of that decision; absent in runs that were stored before it was kept. */
  readonly eventId?: string;
}

export function evolveOrchestrator(
  before: Orchestrator | undefined,
  event: Extract<RunEvent, { type: "runOrchestrator.decided" }>,
): Orchestrator {
  const { agentId, decision } = event.sealed ?? event.payload;
  return { agentId: before?.agentId ?? agentId, turns: (before?.turns ?? 0) + 1, decision, eventId: event.eventId };
}
