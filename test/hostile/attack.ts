import type { Target } from "./target.ts";

/** One attack on a running host. It passes when the host refuses it; each promise of docs/threat-model.md names its attacks. */
export interface Attack {
  /** A sentence about what the host does, for example "a branch with other inputs waits at its gate again". */
  readonly title: string;
  /** Flags of `assay serve`. An attack with flags gets a host of its own; all others share one per database. */
  readonly flags?: readonly string[];
  /** Short in `npm test`; `rounds` is greater with `npm run hostile`. */
  attempt(target: Target, rounds: number): Promise<void>;
}
