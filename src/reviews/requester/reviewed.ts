import type { ReviewedConversation, SentDecision } from "../analytics.ts";
import type { DecisionLine } from "./after-turn.ts";
import { REAL_COMMAND } from "./command-line.ts";
import type { Conversation, Provider } from "./conversation.ts";

/** The input of the figures, from the record of a conversation. */
export function reviewedConversation(conversation: Conversation, lines: readonly DecisionLine[]): ReviewedConversation {
  const { review, status, remarks, artifacts } = conversation;
  return {
    conversation: review,
    reviewer: reviewerOf(conversation.command),
    status,
    answers: artifacts.map(({ iteration }) => ({
      iteration,
      remarks: remarks.filter(({ iterations }) => iterations.includes(iteration)),
    })),
    decisions: lines.map(({ iteration, id, status, reason_code, ack }) => ({
      iteration,
      id,
      status: status as SentDecision["status"],
      ack,
      ...(reason_code === null ? {} : { reason_code }),
    })),
    artifacts: artifacts.map(({ digest }) => digest),
  };
}

/** A short and unique name of the provider. */
export function reviewerOf(provider: Provider): string {
  if ("url" in provider) return `${provider.agent} at ${provider.url}`;
  const { program, args, agent } = provider;
  return program === REAL_COMMAND ? agent : `${agent} of ${[program, ...args].join(" ")}`;
}
