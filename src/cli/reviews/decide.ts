import { DECISIONS, type DecisionStatus } from "../../formats/reviews/request.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { type Conversation, undecided } from "../../reviews/requester/conversation.ts";
import { type ConversationFiles, lastAnswer } from "../../reviews/requester/conversation-files.ts";
import { decideRemark, namedRemark } from "../../reviews/requester/decide-remark.ts";
import { withConversation } from "../../reviews/requester/held-conversation.ts";
import { findReview } from "../../reviews/requester/reviews-folder.ts";
import { formatCount } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import type { REVIEW_DECIDE_FLAGS } from "./commands.ts";
import { holdingOf, rootOf, sameDir } from "./conversation.ts";

export async function decideOnRemark(call: Call<typeof REVIEW_DECIDE_FLAGS>): Promise<undefined> {
  const { args, flags, config, json, io } = call;
  const [named = "", remark = "", given = ""] = args;
  const status = statusOf(given);
  const { review, folder } = await findReview(rootOf(flags), named);
  const content = { status, ...defined({ reason_code: flags.reasonCode, explanation: flags.explanation }) };
  const { decided, decision } = await withConversation(folder, review, holdingOf(config), async (held, files) => {
    const decision = { id: await idOf(remark, held, files), ...content };
    const decided = decideRemark(held, decision, new Date().toISOString());
    await files.save(decided);
    return { decided, decision };
  });
  const left = undecided(decided);
  if (json) {
    const { next_iteration: iteration } = decided;
    return void io.out(JSON.stringify({ review, ...decision, iteration, undecided: left }));
  }
  io.out(`${printable(decision.id)}: ${status}`);
  if (left.length > 0) io.err(`${formatCount(left.length, "remark")} left: ${printable(left.join(", "))}`);
  else io.err(`All decided. Change the file, then: ${programName()} review next ${review}${sameDir(folder)}`);
  return undefined;
}

async function idOf(named: string, held: Conversation, files: ConversationFiles): Promise<string> {
  const answer = await lastAnswer(held, files);
  const shown = answer?.feedback.areas_for_improvement.map(({ id }) => id) ?? [];
  const found = namedRemark(named, { shown, all: held.remarks.map(({ id }) => id) });
  if ("id" in found) return found.id;
  throw new AppError("review_decision_refused", { review: held.review, id: named, problem: found.problem });
}

function statusOf(given: string): DecisionStatus {
  const status = DECISIONS.find((one) => one === given);
  if (status !== undefined) return status;
  throw unusableInput(`the decision must be one of ${DECISIONS.join(", ")}, not ${given}`);
}
