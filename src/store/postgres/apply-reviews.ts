import type { ReviewWrite } from "../port/reviews.ts";
import type { Refusal, Unit } from "../port/store.ts";
import { checkOf, refusalOf } from "../rows/refuse-review.ts";
import { reviewRow, roundRow } from "../rows/review-rows.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { prepared } from "./prepared.ts";
import { sorted } from "./row-order.ts";
import { change } from "./standing.ts";
import type { StandingReviews } from "./standing-reviews.ts";
import { insertInto, type Statement, update } from "./statements.ts";

/** Whether sessions are as the unit takes them to be. */
export function checkReviews({ tenant, reviews = [] }: Unit, standing: StandingReviews): Refusal | undefined {
  for (const check of reviews.map(checkOf)) {
    const refusal = refusalOf(tenant, check, standing.reviews.get(check.sessionId)?.row);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

export function applyReviews(writes: readonly ReviewWrite[], { reviews }: StandingReviews): void {
  for (const write of writes) {
    if (write.type === "delete") continue;
    const written = reviewRow(write.session);
    const { session_id, tenant, revision, lease_owner } = written;
    change(reviews, session_id, { tenant, revision, lease_owner, written });
  }
}

/** Sessions, then what belongs to them. A unit that deletes is a batch of its own, so nothing of it is written too. */
export function writeReviewRows({ reviews }: StandingReviews, units: readonly PreparedUnit[]): Statement[] {
  const changed = [...reviews.values()].flatMap(({ row, stored }) =>
    row.written === undefined ? [] : [{ stored, row: row.written }],
  );
  const writes = units.flatMap(({ unit }) => unit.reviews ?? []);
  const rounds = writes.flatMap((write) =>
    write.type === "delete" ? [] : write.rounds.map((round) => roundRow(write.session.tenant, round)),
  );
  const gone = writes.flatMap((write) => (write.type === "delete" ? [write.sessionId] : []));
  return [
    ...updateSessions(changed.filter(({ stored }) => stored).map(({ row }) => row)),
    ...insertSessions(
      sorted(
        changed.filter(({ stored }) => !stored).map(({ row }) => row),
        ({ session_id }) => [session_id],
      ),
    ),
    ...insertRounds(rounds),
    ...(gone.length === 0
      ? []
      : [
          { ...prepared("delete review rounds", DELETE_ROUNDS), values: [gone] },
          { ...prepared("delete reviews", DELETE_REVIEWS), values: [gone] },
        ]),
  ];
}

const DELETE_ROUNDS = "delete from review_rounds where session_id = any($1)";
const DELETE_REVIEWS = "delete from review_sessions where session_id = any($1)";

const CHANGING_IN_A_SESSION = {
  session_id: "text",
  agent: "text",
  updated_at: "bigint",
  revision: "integer",
  rounds: "integer",
  lease_owner: "text",
  lease_until: "bigint",
  memory: "text",
} as const;
const updateSessions = update("review_sessions", CHANGING_IN_A_SESSION, ["session_id"]);
const insertSessions = insertInto("review_sessions", {
  ...CHANGING_IN_A_SESSION,
  tenant: "text",
  workspace: "text",
  created_by: "text",
  created_at: "bigint",
} as const);

const insertRounds = insertInto("review_rounds", {
  session_id: "text",
  n: "integer",
  tenant: "text",
  at: "bigint",
  body: "text",
} as const);
