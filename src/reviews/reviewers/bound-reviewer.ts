import { CHAT_MODEL_DEFAULTS, type ChatModelSettings, chatModel } from "../model-client/chat-model.ts";
import type { Reviewer } from "../reviewer.ts";
import { modelReviewer } from "./model-reviewer.ts";

export interface ReviewerConfig {
  /** Who reviews when nothing else is said; knows what can be reviewed in any case. */
  readonly builtIn: Reviewer;
  /** Asked in its place, where configuration binds its name to a model. */
  readonly model?: ReviewerModel | undefined;
}

export type ReviewerModel = Pick<ChatModelSettings, "url" | "model" | "key"> & Partial<ChatModelSettings>;

/** Who answers to the name that is always known. */
export function reviewerFor({ builtIn, model }: ReviewerConfig): Reviewer {
  if (model === undefined) return builtIn;
  return modelReviewer({
    agent: builtIn.agent,
    model: chatModel({ ...CHAT_MODEL_DEFAULTS, ...model }),
    reviews: (mediaType) => builtIn.reviews(mediaType),
  });
}
