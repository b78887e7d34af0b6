import { responseOnWire } from "../../formats/reviews/write-response.ts";
import { type Asked, type Asking, ask } from "./ask.ts";
import type { ArtifactVersion, Conversation } from "./conversation.ts";
import type { ConversationFiles } from "./conversation-files.ts";
import { decideRemark } from "./decide-remark.ts";
import type { Reaction } from "./on-feedback.ts";

export interface Looping extends Asking {
  /** Gets an answer with the artifact it is about. */
  readonly react: (given: object, mediaType: string) => Promise<Reaction>;
  /** The artifact as it is now, for reactions that bring none. */
  readonly readArtifact: () => Promise<ArtifactVersion>;
  /** Called with each answer. */
  readonly onAnswer: (asked: Asked) => Promise<void>;
  /** Called with each artifact that a reaction returned. */
  readonly onArtifact: (artifact: ArtifactVersion) => Promise<void>;
  readonly now: () => string;
}

/** Drives a conversation to its end. What was decided is kept before it is sent, so it can also be taken on by hand. */
export async function loop(
  conversation: Conversation,
  first: ArtifactVersion,
  files: ConversationFiles,
  looping: Looping,
): Promise<Asked> {
  let artifact = first;
  let asked = await ask(conversation, artifact, files, looping);
  for (;;) {
    await looping.onAnswer(asked);
    const { conversation: now, attempt } = asked;
    if (now.status !== "open" || attempt?.response === undefined) return asked;
    const { review, next_iteration } = now;
    const response = responseOnWire(attempt.response);
    const given = { review, iteration: next_iteration - 1, artifact, response };
    const reaction = await looping.react(given, artifact.media_type);
    let decided = now;
    for (const decision of reaction.decisions) decided = decideRemark(decided, decision, looping.now());
    await files.save(decided);
    if (reaction.artifact !== undefined) await looping.onArtifact(reaction.artifact);
    artifact = reaction.artifact ?? (await looping.readArtifact());
    asked = await ask(decided, artifact, files, looping);
  }
}
