import type { Program } from "../../engine/programs/started-program.ts";
import type { Reviewer } from "../reviewer.ts";
import { builtinReviewer } from "./builtin/builtin-reviewer.ts";
import { isReviewedType } from "./builtin/rule.ts";
import type { ChatModelOf, ReviewerModel } from "./chat-model.ts";
import { commandReviewer } from "./command-reviewer.ts";
import { modelReviewer } from "./model-reviewer.ts";

/** A reviewer by name. Plain data, so that it can be passed to a thread. */
export type ReviewerBinding = { readonly agent: string } & (
  | { readonly type: "builtin" }
  | { readonly type: "model"; readonly model: ReviewerModel }
  | { readonly type: "command"; readonly command: Program }
);

/** All reviewers accept the same kinds of artifact. */
export function boundReviewer(binding: ReviewerBinding, chatModelOf: ChatModelOf): Reviewer {
  const { agent } = binding;
  switch (binding.type) {
    case "builtin":
      return { ...builtinReviewer(), agent };
    case "model":
      return modelReviewer({ agent, model: chatModelOf(binding.model), reviews: isReviewedType });
    case "command":
      return commandReviewer({ agent, ...binding.command, reviews: isReviewedType });
  }
}
