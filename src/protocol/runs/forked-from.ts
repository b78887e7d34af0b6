import { defined } from "../defined.ts";

export const FORK_MODES = ["replay", "branch"] as const;
export type ForkMode = (typeof FORK_MODES)[number];

/** Where a fork comes from. Part of the folded run; in the log it is sealed, so no event that is served shows it. */
export interface ForkedFrom {
  readonly runId: string;
  /** Events before this sequence are the source's, copied. */
  readonly fromSeq: number;
  readonly mode: ForkMode;
  readonly at: string;
  /** The principal who forked it; the owner is that of the source. */
  readonly by?: string;
  /** The principals who started or forked the source, or any run that the source comes from. Absent in older logs. */
  readonly starters?: readonly string[];
  /** How many events the source had then: a replay repeats those, whatever the source does later. */
  readonly sourceVersion: number;
  /** The annotation that is the reason of the fork. */
  readonly motivatedBy?: string;
}

interface Started {
  readonly startedBy?: string;
  readonly starters?: readonly string[];
  readonly owner: { readonly principal?: string };
}

interface Forked {
  readonly forkedFrom?: ForkedFrom;
}

/** A replay opens no gates, waits for nothing and has no external effects. */
export function isReplay({ forkedFrom }: Forked): boolean {
  return forkedFrom?.mode === "replay";
}

/** Whether an event repeats one of another run: it opens no gate, notifies no one and calls nothing. */
export function isInherited({ forkedFrom }: Forked, sequence: number): boolean {
  return forkedFrom !== undefined && (forkedFrom.mode === "replay" || sequence < forkedFrom.fromSeq);
}

/** The principal who started this very run: who forked it, where it is a fork. */
export function starterOf({ startedBy, owner }: Started): string | undefined {
  return startedBy ?? owner.principal;
}

/**
 * The principals behind a run: those who started or forked it, its source, or a run above either. None of them may approve it where
 * self-approval is forbidden. Empty when no principal is known.
 */
export function startersOf({ startedBy, starters = [], owner }: Started): readonly string[] {
  return [...new Set([owner.principal, ...starters, startedBy])].filter((one) => one !== undefined);
}

/** The starters that the first event of a run names in addition to its owner: of a fork, and of runs that a fork dispatches. */
export function startedByOf(sealed: object | undefined): Pick<Started, "startedBy" | "starters"> {
  const { startedBy, starters: above } = (sealed ?? {}) as Partial<Started>;
  const { forkedFrom } = forkedFromOf(sealed);
  const by = forkedFrom?.by ?? startedBy;
  const starters = forkedFrom?.starters ?? above;
  return defined({ startedBy: by, starters });
}

/** Sealed members of `run.started`, in addition to the payload; no served schema has them. */
export function forkedFromOf(sealed: object | undefined): Forked {
  const { forkedFrom } = (sealed ?? {}) as Forked;
  return forkedFrom === undefined ? {} : { forkedFrom };
}
