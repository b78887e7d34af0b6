import { resolve } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { type Asked, ask, resume } from "../../reviews/requester/ask.ts";
import type { Conversation } from "../../reviews/requester/conversation.ts";
import type { ConversationFiles } from "../../reviews/requester/conversation-files.ts";
import { withConversation } from "../../reviews/requester/held-conversation.ts";
import { findReview } from "../../reviews/requester/reviews-folder.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { interruptible } from "../program/interruptible.ts";
import { askedJson, endingText, tellAsked } from "./asked.ts";
import { askingFor } from "./asking.ts";
import { holdingOf, rootOf, sameDir } from "./new-conversation.ts";
import type { REVIEW_NEXT_FLAGS } from "./review-ask-commands.ts";
import { readWork } from "./work-file.ts";

export async function nextTurn(call: Call<typeof REVIEW_NEXT_FLAGS>): Promise<number> {
  const { args, flags, config, json, io } = call;
  const { review, folder } = await findReview(rootOf(flags), args[0] ?? "");
  const hint = `\`${programName()} review next ${review}${sameDir(folder)}\` sends the turn again.`;
  return interruptible(io, hint, async (signal) => {
    io.progress(`${review}: waiting for the answer …`);
    const asked = await withConversation(folder, review, holdingOf(config), (held, files) =>
      takeNext(held, files, call, signal),
    );
    if (!json) return tellAsked(asked, sameDir(folder), io);
    io.out(JSON.stringify(askedJson(asked, folder)));
    const isFine = asked.attempt === undefined || asked.attempt.outcome === "response_success";
    return isFine ? EXIT.fine : EXIT.negative;
  });
}

async function takeNext(
  conversation: Conversation,
  files: ConversationFiles,
  { args, flags, config }: Call<typeof REVIEW_NEXT_FLAGS>,
  signal: AbortSignal,
): Promise<Asked> {
  const asking = askingFor(conversation, config, signal);
  const resumed = await resume(conversation, files, asking);
  if (resumed !== undefined) return resumed;
  const { review, status, reason } = conversation;
  if (status !== "open" && !flags.reopen)
    throw new AppError("review_ended", { review, ending: endingText(status, reason) });
  const path = args[1] === undefined ? conversation.artifact.path : resolve(args[1]);
  const { media_type } = conversation.artifact;
  const work = await readWork(path, media_type, flags.artifactRef);
  const present: Conversation = { ...conversation, artifact: { path, media_type }, status: "open", reason: null };
  return ask(present, work, files, asking);
}
