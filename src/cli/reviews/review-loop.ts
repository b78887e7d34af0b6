import { resolve } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import type { Asked } from "../../reviews/requester/ask.ts";
import { withConversation } from "../../reviews/requester/held-conversation.ts";
import { loop } from "../../reviews/requester/loop.ts";
import { reactionOf } from "../../reviews/requester/on-feedback.ts";
import { printable } from "../output/printable.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { interruptible } from "../program/interruptible.ts";
import { failureText, headline } from "./answer-text.ts";
import { askedJson, endingText } from "./asked.ts";
import { askingFor } from "./asking.ts";
import { holdingOf, newConversation, sameDir } from "./new-conversation.ts";
import { limitsOf, providerEnvironment } from "./provider.ts";
import type { REVIEW_LOOP_FLAGS } from "./review-ask-commands.ts";
import { mediaTypeFor, readWork, writeWork } from "./work-file.ts";

export async function loopReview(call: Call<typeof REVIEW_LOOP_FLAGS>): Promise<number> {
  const { args, flags, config, json, io } = call;
  const program = flags.onFeedback;
  if (program === undefined) throw new AppError("unusable_input", { problem: "--on-feedback PROGRAM is needed" });
  const path = resolve(args[0] ?? "");
  const mediaType = mediaTypeFor(path, flags.mediaType);
  const first = await readWork(path, mediaType, flags.artifactRef);
  const { conversation, folder } = await newConversation(call);
  const { review, directory } = conversation;
  const hint = `\`${programName()} review show ${review}${sameDir(folder)}\` says where it stands.`;
  return interruptible(io, hint, async (signal) => {
    const environment = providerEnvironment();
    const reacting = { program, args: flags.onFeedbackArg, directory, environment, limits: limitsOf(config), signal };
    const asked = await withConversation(folder, review, holdingOf(config), (held, files) =>
      loop(held, first, files, {
        ...askingFor(held, config, signal),
        react: (given, type) => reactionOf(given, type, reacting),
        readArtifact: () => readWork(path, mediaType, undefined),
        onAnswer: async (one) => tellTurn(one, call),
        onArtifact: (artifact) => (flags.write ? writeWork(path, artifact) : Promise.resolve()),
        now: () => new Date().toISOString(),
      }),
    );
    const { status, reason } = asked.conversation;
    if (json) io.out(JSON.stringify(askedJson(asked, folder)));
    else if (status !== "failed") io.out(`The review of ${printable(path)} is over: ${endingText(status, reason)}.`);
    return status === "failed" ? EXIT.negative : EXIT.fine;
  });
}

function tellTurn({ conversation, attempt }: Asked, { json, io }: Call<typeof REVIEW_LOOP_FLAGS>): void {
  if (json || attempt === undefined) return;
  const { review, next_iteration } = conversation;
  if (attempt.outcome !== "response_success") io.err(`error: ${review}: ${failureText(attempt)}.`);
  else io.out(headline(review, next_iteration - 1, attempt.ids));
}
