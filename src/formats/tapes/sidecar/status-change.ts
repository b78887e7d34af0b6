import type { RowDraft } from "./append-row.ts";
import type { HYPOTHESIS_STATUSES, Row } from "./sidecar.ts";

export type HypothesisStatus = (typeof HYPOTHESIS_STATUSES)[number];

/** The member of `metadata` in which a row names the one that it replaces. */
export const SUPERSEDES = "supersedes";

/** How far a hypothesis has come. Steps may be left out; going back, or on from an end, is against the advice. */
const PROGRESS: Readonly<Record<HypothesisStatus, number>> = {
  active: 0,
  verifying: 1,
  confirmed: 2,
  disproven: 2,
  stale: 2,
};

/** The same status again, with new evidence, is no step. */
export function isAdvisedStep(from: HypothesisStatus, to: HypothesisStatus): boolean {
  return from === to || PROGRESS[from] < PROGRESS[to];
}

/** New values of a row; absent ones stay as they were. */
export type Changes = Partial<Omit<RowDraft, "id" | "event_id" | "author" | "timestamp" | "metadata">> &
  Pick<RowDraft, "id" | "author" | "timestamp" | "metadata">;

/**
 * The row that replaces an earlier one, on the same event. The newest row of a chain is what exports and summaries show, so it says
 * everything that still holds and not only what is new.
 */
export function replacing(earlier: Row, changes: Changes): RowDraft {
  const ofOldKind = changes.kind === undefined || changes.kind === earlier.kind;
  return {
    ...earlier,
    // They belong to the kind, so another kind does not take them over.
    hypothesis_status: ofOldKind ? earlier.hypothesis_status : null,
    friction_kind: ofOldKind ? earlier.friction_kind : null,
    ...changes,
    metadata: new Map([...earlier.metadata, ...changes.metadata, [SUPERSEDES, earlier.id]]),
  };
}
