import { responseOnWire } from "../../formats/reviews/write-response.ts";
import { type Conversation, openRemarks, undecided } from "../../reviews/requester/conversation.ts";
import { ConversationFiles } from "../../reviews/requester/conversation-files.ts";
import { lastAnswer } from "../../reviews/requester/last-answer.ts";
import { reviewerOf } from "../../reviews/requester/reviewed.ts";
import { findReview, loadReviews } from "../../reviews/requester/reviews-folder.ts";
import { formatAgo, formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable } from "../output/table.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { answerText } from "./answer-text.ts";
import { endingText } from "./asked.ts";
import { rootOf } from "./new-conversation.ts";
import type { REVIEW_SHOW_FLAGS } from "./review-ask-commands.ts";

export async function showReviews(call: Call<typeof REVIEW_SHOW_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const root = rootOf(flags);
  const [named] = args;
  if (named !== undefined) return showOne(root, named, json, io);
  const listed = (await loadReviews(root)).map(({ conversation }) => conversation);
  if (json) io.out(JSON.stringify({ reviews: listed }));
  else if (listed.length > 0) io.out(formatTable(HEADINGS, listed.map(row), io.paint));
  else io.out(`No reviews in ${printable(root)}. Ask for one with \`${programName()} review start FILE\`.`);
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
    io.out(JSON.stringify({ ...conversation, dir: folder, undecided: left, response }));
    return;
  }
  io.out(formatFields(facts(conversation), io.paint));
  if (answer !== undefined) io.out(`\n${answerText(answer, io.paint, (id) => decisionText(conversation, id))}`);
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
