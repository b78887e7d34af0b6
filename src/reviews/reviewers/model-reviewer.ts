import { randomBytes } from "node:crypto";
import { AppError } from "../../protocol/errors.ts";
import type { Review } from "../provider/finish-turn.ts";
import { DEFAULT_AGENT, type ReviewAsked, type Reviewer } from "../reviewer.ts";
import type { ChatAnswer, ChatMessage, ChatModel } from "./chat-model.ts";
import { ArtifactText, MODEL_ANSWER, type ReadAnswer, readModelAnswer } from "./model-answer.ts";
import { artifactText, askedAgain, promptFor } from "./model-prompt.ts";

export interface ModelReviewerOptions {
  readonly model: ChatModel;
  readonly reviews: (mediaType: string) => boolean;
  readonly agent?: string;
}

/**
 * A model that reviews. Its answer is checked; after an invalid one the model is asked once more, with the errors. Throws
 * `model_failed`.
 */
export function modelReviewer({ model, reviews, agent = DEFAULT_AGENT }: ModelReviewerOptions): Reviewer {
  return { agent, reviews, review: (asked) => reviewBy(model, asked) };
}

async function reviewBy(model: ChatModel, asked: ReviewAsked): Promise<Review> {
  const text = artifactText(asked.request.artifact.content);
  if (text.trim() === "") return NOTHING;
  const artifact = new ArtifactText(text);
  const prompt = promptFor(asked, text, () => randomBytes(16).toString("hex"));
  const ask = async (messages: readonly ChatMessage[]) => {
    const answer = await model.complete(messages, { ...MODEL_ANSWER }, asked.signal);
    refuseFiltered(answer);
    return { answer, read: readModelAnswer(answer, artifact, asked.session.issued) };
  };

  const first = await ask(prompt);
  if (first.read.problem === undefined) return usable(first.read);
  const second = await ask([...prompt, ...askedAgain(first.answer.text, first.read.problem)]);
  return usable(second.read.review === undefined ? { ...first.read, ...second.read } : second.read);
}

/** Asking again in other words for what was withheld would be an attempt to get round it. */
function refuseFiltered({ finish }: ChatAnswer): void {
  if (finish === "content-filter") throw new AppError("model_failed", { problem: "its filter withheld the answer" });
}

function usable({ review, problem }: ReadAnswer): Review {
  if (review !== undefined) return review;
  throw new AppError("model_failed", { problem: `its answer cannot be used: ${problem}` });
}

const NOTHING: Review = {
  confidence: { level: "low", justification: "The artifact is empty." },
  positive_points: [],
  remarks: [],
  general_summary: "There is nothing to review.",
};
