import type { Voter } from "../../../protocol/gates/gate-rules.ts";

/** What is known of a voter that a relay names. */
export interface Relay {
  /** Whether the voter is a principal of the tenant that the relay did not make. */
  readonly known: boolean;
  /** Whether the relay is trusted to name people. */
  readonly trusted: boolean;
  /** Whether the voter has a person's key. */
  readonly person: boolean;
  /** Makers of the relay's key or, where it has none, of the voter's. */
  readonly makers: readonly string[];
  /** The relay, where all its votes count as one. */
  readonly countsAs?: string;
}

interface VoteOrigin {
  makers?: string[];
  countsAs?: string;
  relayedPerson?: true;
}

/** Which principals had the key of a vote in hand, as vote and log keep it. */
export function originOf(voter: string, { principal, makers: own = [] }: Voter, relay?: Relay): VoteOrigin {
  const relayed = voter === principal ? undefined : relay;
  const makers = relayed?.makers ?? own;
  return {
    ...(makers.length === 0 ? {} : { makers: [...makers] }),
    ...(relayed?.countsAs === undefined ? {} : { countsAs: relayed.countsAs }),
    ...(relayed?.trusted === true && relayed.person ? { relayedPerson: true } : {}),
  };
}
