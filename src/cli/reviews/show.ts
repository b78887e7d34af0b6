import { responseOnWire } from "../../formats/reviews/response.ts";
import { type DecisionFigures, type ReviewAnalytics, reviewAnalytics } from "../../reviews/analytics.ts";
import { type Conversation, openRemarks, undecided } from "../../reviews/requester/conversation.ts";
import { ConversationFiles, lastAnswer } from "../../reviews/requester/conversation-files.ts";
import { findReview, loadReviews, reviewedConversation, reviewerOf } from "../../reviews/requester/reviews-folder.ts";
import { formatAgo, formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatFields, formatTable } from "../output/table.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { answerText, endingText } from "./answer.ts";
import type { REVIEW_SHOW_FLAGS } from "./commands.ts";
import { rootOf } from "./conversation.ts";

export async function showReviews(call: Call<typeof REVIEW_SHOW_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const root = rootOf(flags);
  const [named] = args;
  if (named !== undefined) return showOne(root, named, json, io);
  const listed = (await loadReviews(root)).map(({ conversation }) => conversation);
  if (json) io.out(JSON.stringify({ reviews: listed }));
  else if (listed.length > 0) io.out(formatTable(HEADINGS, listed.map(row), io.paint));
  else io.out(`No reviews in ${printable(root)}. Request one with \`${programName()} review start FILE\`.`);
}

const HEADINGS = ["REVIEW", "STATUS", "TURNS", "UNDECIDED", "BEGUN", "WORK"];

function row(conversation: Conversation): string[] {
  const { review, status, reason, next_iteration, created_at, artifact } = conversation;
  return [
    review,
    reason === null ? status : `${status} (${printable(reason)})`,
    String(next_iteration - 1),
    status === "open" ? String(undecided(conversation).length) : "",
    formatAgo(created_at, Date.now()),
    printable(artifact.path),
  ];
}

async function showOne(root: string, named: string, json: boolean, io: Io): Promise<undefined> {
  const { folder } = await findReview(root, named);
  const files = new ConversationFiles(folder);
  const conversation = await files.load();
  const answer = await lastAnswer(conversation, files);
  if (json) {
    const response = answer === undefined ? null : responseOnWire(answer);
    const left = conversation.status === "open" ? undecided(conversation) : [];
    return void io.out(JSON.stringify({ ...conversation, dir: folder, undecided: left, response }));
  }
  io.out(formatFields(facts(conversation), io.paint));
  if (answer !== undefined) io.out(`\n${answerText(answer, io.paint, (id) => decisionText(conversation, id))}`);
  return undefined;
}

function facts(conversation: Conversation): Record<string, string | undefined> {
  const { review, status, reason, artifact, command, session_id, next_iteration, spent, artifacts } = conversation;
  const last = artifacts.at(-1);
  return {
    Review: review,
    Status: printable(endingText(status, reason)),
    Work: printable(artifact.path),
    Reviewer: printable(reviewerOf(command)),
    Session: session_id === null ? undefined : printable(session_id),
    Turns: String(next_iteration - 1),
    "Last change": last === undefined || artifacts.length < 2 ? undefined : `+${last.added} -${last.removed} lines`,
    Spent: spent.tokens === 0 ? undefined : `${formatCount(spent.tokens, "token")}, cost ${spent.cost}`,
    Undecided:
      status === "open" ? `${undecided(conversation).length} of ${openRemarks(conversation).length}` : undefined,
  };
}

function decisionText({ decisions, next_iteration }: Conversation, id: string): string {
  const decision = Object.hasOwn(decisions, id) ? decisions[id] : undefined;
  if (decision === undefined) return "";
  const { status, reason_code, explanation, iteration } = decision;
  const why = [reason_code, explanation].filter((text) => text !== undefined).join(": ");
  const when = iteration === next_iteration ? "" : `, sent in turn ${iteration}`;
  return `  [${status}${when}${why === "" ? "" : `; ${printable(why)}`}]`;
}

export async function reviewStats({ args, flags, json, io }: Call<typeof REVIEW_SHOW_FLAGS>): Promise<undefined> {
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
  else showFigures(figures, io);
}

function showFigures(figures: ReviewAnalytics, io: Io): void {
  const { conversations, issued, decided, reraised, oscillating, unknown_rate } = figures;
  const { mean, max } = conversations.rounds_to_convergence;
  const { total, open, converged, stopped, failed, oscillated } = conversations;
  const fields = {
    Reviews: `${total} (${open} open, ${converged} converged, ${stopped} stopped, ${failed} failed)`,
    "Turns to converge": mean === null ? undefined : `${mean} on average, ${max} at most`,
    Remarks: `${formatCount(issued, "remark")}, ${decided} decided (${percent(figures.coverage)})`,
    Accepted: `${figures.accepted} (${percent(figures.acceptance_rate)}; ${percent(figures.weighted_rate)} with partial ones at half)`,
    Partial: String(figures.partial),
    Rejected: String(figures.rejected),
    "Made again": reraised === 0 ? undefined : `${reraised} after they had been accepted`,
    "Come and go": oscillating === 0 ? undefined : formatCount(oscillating, "remark"),
    "Back and forth": oscillated === 0 ? undefined : formatCount(oscillated, "review"),
    Forgotten: unknown_rate
      ? `${percent(unknown_rate)} of decisions were about remarks the provider did not know`
      : undefined,
  };
  io.out(formatFields(fields, io.paint));
  section("REVIEWER", figures.by_reviewer, ({ reviewer }) => reviewer, io);
  section("ASPECT", figures.by_aspect, ({ aspect }) => aspect || "(none)", io);
  if (figures.by_reason.length === 0) return;
  const rows = figures.by_reason.map((one) => [printable(one.reason_code), String(one.rejected), String(one.reraised)]);
  io.out(`\n${formatTable(["REASON", "REJECTED", "MADE AGAIN"], rows, io.paint)}`);
}

const NAME_CHARACTERS = 48;

function section<F extends DecisionFigures>(
  heading: string,
  rows: readonly F[],
  name: (one: F) => string,
  io: Io,
): void {
  const cells = rows.map((one) => [
    shorten(printable(name(one)), NAME_CHARACTERS),
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
