import type { ReviewResponse } from "../../formats/reviews/response.ts";
import type { Conversation } from "./conversation.ts";
import type { ConversationFiles } from "./conversation-files.ts";

/** The last success answer of the conversation; undefined before the first. */
export async function lastAnswer(
  { next_iteration }: Conversation,
  files: ConversationFiles,
): Promise<(ReviewResponse & { readonly status: "success" }) | undefined> {
  const attempt = await files.answeredAttempt(next_iteration - 1);
  if (attempt === 0) return undefined;
  const response = await files.response(attempt, await files.request(attempt));
  return response?.status === "success" ? response : undefined;
}
