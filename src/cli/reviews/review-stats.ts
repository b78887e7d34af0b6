import { type DecisionFigures, type ReviewAnalytics, reviewAnalytics } from "../../reviews/analytics.ts";
import { reviewedConversation } from "../../reviews/requester/reviewed.ts";
import { findReview, loadReviews } from "../../reviews/requester/reviews-folder.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatFields, formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { rootOf } from "./new-conversation.ts";
import type { REVIEW_STATS_FLAGS } from "./review-ask-commands.ts";

export async function reviewStats({ args, flags, json, io }: Call<typeof REVIEW_STATS_FLAGS>): Promise<undefined> {
  const root = rootOf(flags);
  const wanted = args[0] === undefined ? undefined : (await findReview(root, args[0])).review;
  const listed = (await loadReviews(root)).filter(
    ({ conversation }) => wanted === undefined || conversation.review === wanted,
  );
  const figures = reviewAnalytics(
    await Promise.all(
      listed.map(async ({ conversation, files }) =>
        reviewedConversation(conversation, await files.decisions(conversation)),
      ),
    ),
  );
  if (json) io.out(JSON.stringify(figures));
  else if (listed.length === 0) io.out(`No reviews in ${printable(root)}.`);
  else tell(figures, io);
}

function tell(figures: ReviewAnalytics, io: Io): void {
  const { conversations, issued, decided, reraised, oscillating, unknown_rate } = figures;
  const { mean, max } = conversations.rounds_to_convergence;
  io.out(
    formatFields(
      {
        Reviews: `${conversations.total} (${conversations.open} open, ${conversations.converged} converged, ${conversations.stopped} stopped, ${conversations.failed} failed)`,
        "Turns to converge": mean === null ? undefined : `${mean} on average, ${max} at most`,
        Remarks: `${formatCount(issued, "remark")}, ${decided} decided (${percent(figures.coverage)})`,
        Accepted: `${figures.accepted} (${percent(figures.acceptance_rate)}; ${percent(figures.weighted_rate)} with partial ones at half)`,
        Partial: String(figures.partial),
        Rejected: String(figures.rejected),
        "Made again": reraised === 0 ? undefined : `${reraised} after they had been accepted`,
        "Come and go": oscillating === 0 ? undefined : formatCount(oscillating, "remark"),
        "Back and forth": conversations.oscillated === 0 ? undefined : formatCount(conversations.oscillated, "review"),
        Forgotten: unknown_rate
          ? `${percent(unknown_rate)} of decisions were about remarks the provider did not know`
          : undefined,
      },
      io.paint,
    ),
  );
  section(
    "REVIEWER",
    figures.by_reviewer.map((one) => [one.reviewer, one] as const),
    io,
  );
  section(
    "ASPECT",
    figures.by_aspect.map((one) => [one.aspect || "(none)", one] as const),
    io,
  );
  if (figures.by_reason.length === 0) return;
  const rows = figures.by_reason.map((one) => [printable(one.reason_code), String(one.rejected), String(one.reraised)]);
  io.out(`\n${formatTable(["REASON", "REJECTED", "MADE AGAIN"], rows, io.paint)}`);
}

const NAME_CHARACTERS = 48;

function section(heading: string, rows: readonly (readonly [string, DecisionFigures])[], io: Io): void {
  const cells = rows.map(([name, one]) => [
    shorten(printable(name), NAME_CHARACTERS),
    ...[one.issued, one.decided, one.accepted, one.partial, one.rejected, one.reraised].map(String),
    percent(one.acceptance_rate),
  ]);
  if (cells.length === 0) return;
  const headings = [heading, "REMARKS", "DECIDED", "ACCEPTED", "PARTIAL", "REJECTED", "MADE AGAIN", "RATE"];
  io.out(`\n${formatTable(headings, cells, io.paint)}`);
}

function percent(rate: number | null): string {
  return rate === null ? "none" : `${Math.round(rate * 1000) / 10} %`;
}
