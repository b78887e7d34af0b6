import { lastWords, type ProgramEnd, runProgram } from "../../engine/programs/run-program.ts";
import type { ReviewRequest } from "../../formats/reviews/request.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { AppError } from "../../protocol/errors.ts";
import { DEFAULT_AGENT, type ReviewAsked, type Reviewer } from "../reviewer.ts";
import type { ReviewerCommand } from "./bound-reviewer.ts";
import { readCommandAnswer } from "./command-answer.ts";

export interface CommandReviewerOptions extends ReviewerCommand {
  readonly agent?: string;
  readonly reviews: (mediaType: string) => boolean;
  readonly limits?: typeof LIMITS;
}

const LIMITS = { outputBytes: 8 * 1024 * 1024, killMs: 2_000 };

/**
 * A program that reviews. It is given one line of JSON, `{ request, session }`, and prints one JSON object. Throws when it cannot be
 * started, fails, writes too much, or prints something else; none of its processes is left then.
 */
export function commandReviewer({ agent = DEFAULT_AGENT, reviews, ...command }: CommandReviewerOptions): Reviewer {
  return {
    agent,
    reviews,
    review: async (asked) => {
      const answer = readCommandAnswer(await outputOf(command, inputFor(asked), asked.signal));
      if (answer.ok) return answer.review;
      throw refusal(command.program, `gave no usable review: ${answer.problem}`);
    },
  };
}

/** The conversation as a reviewing program gets it; the session id is not included. */
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

const SCRUBBER = scrubber();

type Command = Pick<CommandReviewerOptions, keyof ReviewerCommand | "limits">;

async function outputOf({ limits = LIMITS, ...command }: Command, input: string, signal: AbortSignal): Promise<string> {
  const call = { ...command, input, limits, signal, mayLeaveServices: true };
  // The signal carries the time limit of all reviewers.
  const end = await runProgram(call).catch((error: unknown) => {
    throw signal.aborted ? refusal(command.program, "was not waited for any longer") : error;
  });
  if (end.type === "ended" && end.exitCode === 0) return end.stdout.toString("utf8");
  if (end.type === "not-started") throw new AppError("unusable_input", { problem: end.problem });
  throw refusal(command.program, failureOf(end, limits.outputBytes));
}

function failureOf(end: Exclude<ProgramEnd, { type: "not-started" }>, outputBytes: number): string {
  switch (end.type) {
    case "too-slow":
      return "took too long";
    case "too-much":
      return `printed more than ${outputBytes} bytes`;
    case "ended": {
      const how = end.exitCode === null ? end.signalName : `exit code ${end.exitCode}`;
      const stderrNote = lastWords(end.stderr, SCRUBBER.scrubText);
      return `ended with ${how}${stderrNote === "" ? "" : `: ${stderrNote}`}`;
    }
  }
}

function refusal(program: string, problem: string): AppError {
  return new AppError("unusable_input", { problem: `${program} ${problem}` });
}
