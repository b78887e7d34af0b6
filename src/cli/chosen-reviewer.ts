import { resolve } from "node:path";
import type { Reviewer } from "../reviews/reviewer.ts";
import { reviewerFor } from "../reviews/reviewers/bound-reviewer.ts";
import { builtinReviewer } from "../reviews/reviewers/builtin/builtin-reviewer.ts";
import { commandReviewer } from "../reviews/reviewers/command-reviewer.ts";
import { ownEnvironment } from "./config.ts";
import type { Config } from "./settings.ts";
import { reviewModelOf } from "./wiring/review-model.ts";

/** Who answers to the name that is always known: a program, a model, or the built-in rules. */
export function chosenReviewer(
  { reviewerCommand, arg }: { readonly reviewerCommand: string | undefined; readonly arg: readonly string[] },
  config: Config,
): Reviewer {
  const builtIn = builtinReviewer();
  if (reviewerCommand === undefined) return reviewerFor({ builtIn, model: reviewModelOf(config, ownEnvironment()) });
  return commandReviewer({
    program: reviewerCommand,
    args: arg,
    directory: resolve("."),
    environment: withoutOwn(ownEnvironment()),
    reviews: (mediaType) => builtIn.reviews(mediaType),
  });
}

/** Keys and the database are ours alone. */
function withoutOwn(environment: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^ASSAY_.*(KEY|DATABASE|TOKEN)/.test(name)),
  );
}
