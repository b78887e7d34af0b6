import type { ReviewWrite } from "../port/reviews.ts";
import type { Refusal } from "../port/store.ts";
import type { ReviewSessionsTable } from "../schema/review-tables.ts";

export type StandingReviewRow = Pick<ReviewSessionsTable, "tenant" | "revision" | "lease_owner">;

export interface ReviewCheck {
  readonly sessionId: string;
  /** How it must stand; revision 0 is that there is none. Absent where it only has to be there. */
  readonly after?: { readonly revision: number; readonly heldBy: string | null };
}

export function checkOf(write: ReviewWrite): ReviewCheck {
  if (write.type === "delete") return { sessionId: write.sessionId };
  const { session, heldBy = null } = write;
  return { sessionId: session.sessionId, after: { revision: session.revision - 1, heldBy } };
}

/** What another tenant has does not exist for this one, and its id is not to be had either. */
export function refusalOf(
  tenant: string,
  { sessionId, after }: ReviewCheck,
  row: StandingReviewRow | undefined,
): Refusal | undefined {
  const mine = row?.tenant === tenant;
  const fits =
    after === undefined
      ? mine
      : after.revision === 0
        ? row === undefined
        : mine && row.revision === after.revision && row.lease_owner === after.heldBy;
  return fits ? undefined : { type: "review", sessionId, there: mine };
}
