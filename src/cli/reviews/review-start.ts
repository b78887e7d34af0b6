import { ask } from "../../reviews/requester/ask.ts";
import { withConversation } from "../../reviews/requester/held-conversation.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { interruptible } from "../program/interruptible.ts";
import { askedJson, tellAsked } from "./asked.ts";
import { askingFor } from "./asking.ts";
import { holdingOf, newConversation, sameDir } from "./new-conversation.ts";
import type { REVIEW_START_FLAGS } from "./review-ask-commands.ts";
import { mediaTypeFor, readWork } from "./work-file.ts";

export async function startReview(call: Call<typeof REVIEW_START_FLAGS>): Promise<number> {
  const { args, flags, config, json, io } = call;
  const [path = ""] = args;
  const artifact = await readWork(path, mediaTypeFor(path, flags.mediaType), flags.artifactRef);
  const { conversation, folder } = await newConversation(call);
  const { review } = conversation;
  const hint = `\`${programName()} review next ${review}${sameDir(folder)}\` sends the turn again.`;
  return interruptible(io, hint, async (signal) => {
    io.progress(`${review}: waiting for the answer …`);
    const asked = await withConversation(folder, review, holdingOf(config), (held, files) =>
      ask(held, artifact, files, askingFor(held, config, signal)),
    );
    if (!json) return tellAsked(asked, sameDir(folder), io);
    io.out(JSON.stringify(askedJson(asked, folder)));
    return asked.attempt?.outcome === "response_success" ? EXIT.fine : EXIT.negative;
  });
}
