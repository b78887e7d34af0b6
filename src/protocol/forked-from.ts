export const FORK_MODES = ["replay", "branch"] as const;
export type ForkMode = (typeof FORK_MODES)[number];

/** Where a fork comes from. Part of the folded run; in the log it is sealed, so no event that is served shows it. */
export interface ForkedFrom {
  readonly runId: string;
  /** Events before this sequence are the source's, copied. */
  readonly fromSeq: number;
  readonly mode: ForkMode;
  readonly at: string;
  /** Who forked it: the owner is the source's, and says nothing of them. */
  readonly by?: string;
  /** How many events the source had then: a replay repeats those, whatever the source does later. */
  readonly sourceVersion: number;
  /** The annotation that somebody forked because of. */
  readonly motivatedBy?: string;
}

interface Started {
  readonly startedBy?: string;
  readonly owner: { readonly principal?: string };
}

interface Forked {
  readonly forkedFrom?: ForkedFrom;
}

/** A replay asks nobody, waits for nothing and touches nothing outside. */
export function isReplay({ forkedFrom }: Forked): boolean {
  return forkedFrom?.mode === "replay";
}

/** Whether an event repeats what happened in another run: nobody is asked, told or called because of it. */
export function isInherited({ forkedFrom }: Forked, sequence: number): boolean {
  return forkedFrom !== undefined && (forkedFrom.mode === "replay" || sequence < forkedFrom.fromSeq);
}

/** Who is behind a run. Whoever has it do something else than its owner did is, and nobody can be behind both halves of a gate. */
export function starterOf({ startedBy, owner }: Started): string | undefined {
  return startedBy ?? owner.principal;
}

/** What a run says of its starter when that is not its owner: a fork, and whatever a fork dispatches. */
export function startedByOf(sealed: object | undefined): Pick<Started, "startedBy"> {
  const { startedBy } = (sealed ?? {}) as Partial<Started>;
  const by = forkedFromOf(sealed).forkedFrom?.by ?? startedBy;
  return by === undefined ? {} : { startedBy: by };
}

/** What the sealed half of `run.started` says beside the payload; nothing of it is in any schema of what is served. */
export function forkedFromOf(sealed: object | undefined): Forked {
  const { forkedFrom } = (sealed ?? {}) as Forked;
  return forkedFrom === undefined ? {} : { forkedFrom };
}
