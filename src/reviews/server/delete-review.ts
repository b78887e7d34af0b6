import { auditDraft, refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { DeleteReviewResponse } from "../../protocol/reviews/api.ts";
import { visibleReview } from "./visible-review.ts";

/** Deletes a review for good, with all its rounds; a turn under way is then not answered. Labels on runs stay. */
export async function deleteReview(host: Host, caller: Caller, sessionId: string): Promise<DeleteReviewResponse> {
  const { tenant, rounds } = await visibleReview(host, caller, sessionId);
  const note = { action: "review.deleted", details: { rounds } };
  const committed = await host.store.commit({
    tenant,
    reviews: [{ type: "delete", sessionId }],
    audit: [auditDraft(caller, host.nowMs(), sessionId, note)],
  });
  if (!committed.ok) throw refused(committed.refusal);
  return { sessionId, rounds };
}
