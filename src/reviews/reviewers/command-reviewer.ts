import { lastWords, type ProgramEnd, runProgram } from "../../engine/programs/run-program.ts";
import type { Program } from "../../engine/programs/started-program.ts";
import type { ReviewRequest } from "../../formats/reviews/request.ts";
import { REMARK_ID } from "../../formats/reviews/response.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { parse, type Static, Type } from "../../protocol/schema.ts";
import type { Review, ReviewRemark } from "../provider/finish-turn.ts";
import { DEFAULT_AGENT, type ReviewAsked, type Reviewer } from "../reviewer.ts";

export interface CommandReviewerOptions extends Program {
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
    session: { last, issued, decisions, ...defined({ artifact }) },
  };
  return `${JSON.stringify(input)}\n`;
}

const SCRUBBER = scrubber();

type Command = Pick<CommandReviewerOptions, keyof Program | "limits">;

async function outputOf({ limits = LIMITS, ...command }: Command, input: string, signal: AbortSignal): Promise<string> {
  const call = { ...command, input, limits, signal, mayLeaveServices: true };
  // The signal carries the time limit of all reviewers.
  const end = await runProgram(call).catch((error: unknown) => {
    throw signal.aborted ? refusal(command.program, "was not waited for any longer") : error;
  });
  if (end.type === "ended" && end.exitCode === 0) return end.stdout.toString("utf8");
  if (end.type === "not-started") throw unusableInput(end.problem);
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
  return unusableInput(`${program} ${problem}`);
}

const Area = Type.Object({
  id: Type.Optional(Type.String()),
  aspect: Type.String(),
  description: Type.String(),
  recommendation: Type.String(),
  /** Stands for what it is about, such as the words it quotes. */
  part: Type.Optional(Type.String()),
});
type Area = Static<typeof Area>;

const Answer = Type.Object({
  confidence: Type.Optional(
    Type.Object({
      level: Type.Union([Type.Literal("high"), Type.Literal("medium"), Type.Literal("low")]),
      justification: Type.String(),
    }),
  ),
  positive_points: Type.Optional(Type.Array(Type.Object({ aspect: Type.String(), justification: Type.String() }))),
  areas_for_improvement: Type.Array(Area, { maxItems: 1000 }),
  general_summary: Type.String(),
});

export type CommandAnswer =
  | { readonly ok: true; readonly review: Review }
  | { readonly ok: false; readonly problem: string };

export function readCommandAnswer(text: string): CommandAnswer {
  try {
    const {
      confidence,
      positive_points = [],
      areas_for_improvement,
      general_summary,
    } = parse(Answer, JSON.parse(text), "");
    return {
      ok: true,
      review: {
        confidence: confidence ?? { level: "medium", justification: "The reviewer does not say how sure it is." },
        positive_points: positive_points.map(({ aspect, justification }) => ({ aspect, justification })),
        remarks: remarksOf(areas_for_improvement),
        general_summary,
      },
    };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problem: "what it printed is not JSON" };
    if (error instanceof AppError) return { ok: false, problem: String(error.details["problem"]) };
    throw error;
  }
}

function remarksOf(areas: readonly Area[]): ReviewRemark[] {
  const taken = new Set<string>();
  return areas.map(({ id: given, aspect, description, recommendation, part }) => {
    const id = unique(validId(given, `${aspect}\n${description}`), taken);
    // Without a part, the remark's own text identifies it.
    return { id, aspect, description, recommendation, part: sha256(part ?? `${description}\n${recommendation}`) };
  });
}

/** The program's own id where it is valid; else one derived from it, or from the text of the remark. */
function validId(given: string | undefined, words: string): string {
  if (given !== undefined && REMARK_ID.test(given)) return given;
  const basis = given === undefined || given.trim() === "" ? words : given;
  const slug = basis
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 40);
  return `${slug === "" ? "remark" : slug}.${sha256(basis).slice(0, 10)}`;
}

const ID_CHARACTERS = 128;

function unique(id: string, taken: Set<string>): string {
  let name = id;
  for (let n = 2; taken.has(name); n++) {
    const suffix = `.${n}`;
    name = `${id.slice(0, ID_CHARACTERS - suffix.length)}${suffix}`;
  }
  taken.add(name);
  return name;
}
