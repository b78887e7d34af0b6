import type { RunEvent } from "./events.ts";

/** Who works in a run, and what its channels were found to be. */
export interface RunAgent {
  /** Of the latest invocation. */
  readonly agentId: string;
  readonly version?: string;
  readonly sourceManifestId?: string;
  /** Versions by `channelKey`: what a channel is for a run is settled the first time, and never again. */
  readonly channels?: Readonly<Record<string, string>>;
}

export function channelKey(agentId: string, channel: string): string {
  return JSON.stringify([agentId, channel]);
}

export function evolveAgent(
  before: RunAgent | undefined,
  event: Extract<RunEvent, { type: "agent.invocation.started" }>,
): RunAgent {
  const { agentId, resolvedAgentVersion: version, resolvedChannel: channel, sourceManifestId } = event.payload;
  const settled =
    channel === undefined || version === undefined
      ? before?.channels
      : { [channelKey(agentId, channel)]: version, ...before?.channels };
  return {
    agentId,
    ...(version === undefined ? {} : { version }),
    ...(sourceManifestId === undefined ? {} : { sourceManifestId }),
    ...(settled === undefined ? {} : { channels: settled }),
  };
}
