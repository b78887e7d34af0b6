import { CHAT_MODEL_DEFAULTS, type ChatModelSettings, chatModel } from "../model-client/chat-model.ts";
import type { Reviewer } from "../reviewer.ts";
import { builtinReviewer } from "./builtin/builtin-reviewer.ts";
import { isReviewedType } from "./builtin/kinds.ts";
import { commandReviewer } from "./command-reviewer.ts";
import { modelReviewer } from "./model-reviewer.ts";

/** Who answers to a name. Plain data, so that it can be handed to a thread. */
export type ReviewerBinding = { readonly agent: string } & (
  | { readonly type: "builtin" }
  | { readonly type: "model"; readonly model: ReviewerModel }
  | { readonly type: "command"; readonly command: ReviewerCommand }
);

export type ReviewerModel = Pick<ChatModelSettings, "url" | "model" | "key"> & Partial<ChatModelSettings>;

export interface ReviewerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Whoever reviews looks at the same kinds of artifact. */
export function boundReviewer(binding: ReviewerBinding): Reviewer {
  const { agent } = binding;
  switch (binding.type) {
    case "builtin":
      return { ...builtinReviewer(), agent };
    case "model": {
      const model = chatModel({ ...CHAT_MODEL_DEFAULTS, ...binding.model });
      return modelReviewer({ agent, model, reviews: isReviewedType });
    }
    case "command":
      return commandReviewer({ agent, ...binding.command, reviews: isReviewedType });
  }
}
