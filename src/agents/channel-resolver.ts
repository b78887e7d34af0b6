import type { Owner } from "../protocol/identity/identity.ts";

/** Knows what a channel of an agent is at the moment. */
export interface ChannelResolver {
  /**
   * The version for a run that needs this channel for the first time; undefined where no version is active on it. Runs keep their
   * version, so a run is resolved only once.
   */
  versionFor(asked: {
    readonly owner: Owner;
    readonly runId: string;
    readonly agentId: string;
    readonly channel: string;
  }): Promise<string | undefined>;
  /** Whether a run of this owner could get one now. */
  isActive(owner: Owner, agentId: string, channel: string): Promise<boolean>;
}
