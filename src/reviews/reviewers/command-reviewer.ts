import type { ReviewRequest } from "../../formats/afp/request.ts";
import { AppError } from "../../protocol/errors.ts";
import { DEFAULT_AGENT, type ReviewAsked, type Reviewer } from "../reviewer.ts";
import { readCommandAnswer } from "./command-answer.ts";
import { type ProgramToRun, runForOutput } from "./run-for-output.ts";

export interface CommandReviewerOptions extends Omit<ProgramToRun, "input" | "signal"> {
  readonly agent?: string;
  readonly reviews: (mediaType: string) => boolean;
}

/**
 * A program that reviews. It is given one line of JSON, `{ request, session }`, and prints one JSON object. Throws when it cannot be
 * started, fails, writes too much, or prints something else; none of its processes is left then.
 */
export function commandReviewer({ agent = DEFAULT_AGENT, reviews, ...program }: CommandReviewerOptions): Reviewer {
  return {
    agent,
    reviews,
    review: async (asked) => {
      const output = await runForOutput({ ...program, input: inputFor(asked), signal: asked.signal });
      const answer = readCommandAnswer(output);
      if (answer.ok) return answer.review;
      throw new AppError("unusable_input", { problem: `${program.program} gave no usable review: ${answer.problem}` });
    },
  };
}

/** What a reviewing program sees of the conversation; which session carries it is not its business. */
interface CommandInput {
  readonly request: ReviewRequest;
  readonly session: Pick<ReviewAsked["session"], "last" | "issued" | "decisions" | "artifact">;
}

function inputFor({ request, session }: ReviewAsked): string {
  const { last, issued, decisions, artifact } = session;
  const input: CommandInput = {
    request,
    session: { last, issued, decisions, ...(artifact === undefined ? {} : { artifact }) },
  };
  return `${JSON.stringify(input)}\n`;
}
