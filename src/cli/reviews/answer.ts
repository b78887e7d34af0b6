import { basename } from "node:path";
import type { TurnOutcome } from "../../formats/reviews/outcome.ts";
import { type ReviewResponse, responseOnWire } from "../../formats/reviews/response.ts";
import type { Asked } from "../../reviews/requester/ask.ts";
import { type Conversation, openRemarks, undecided } from "../../reviews/requester/conversation.ts";
import { REAL_COMMAND } from "../../reviews/requester/run-command.ts";
import { type Attempt, isWorthAnother } from "../../reviews/requester/take-turn.ts";
import { formatCount } from "../output/amount.ts";
import type { Io, Paint } from "../output/io.ts";
import { printable, shellWord, shorten } from "../output/printable.ts";
import { programName } from "../paths.ts";
import { EXIT } from "../program/exit-codes.ts";

type Success = ReviewResponse & { readonly status: "success" };

/** An answer as text: the summary, then each remark with its recommendation. */
export function answerText(
  { feedback, extensions }: Success,
  paint: Paint,
  decided: (id: string) => string = () => "",
): string {
  const { confidence, general_summary, areas_for_improvement: remarks, positive_points } = feedback;
  const sections = [
    ...(general_summary ? [printable(general_summary)] : []),
    ...(confidence === undefined
      ? []
      : [`${paint.dim("Confidence:")} ${confidence.level}. ${printable(confidence.justification)}`.trimEnd()]),
    ...(positive_points.length === 0 ? [] : [positive_points.map((point) => pointText(point, paint)).join("\n")]),
    ...remarks.map((remark, i) => {
      const { id, aspect, description, recommendation } = remark;
      const again = remark["x-reopened"] === true ? paint.yellow(" (open again)") : "";
      const heading = `${i + 1}. ${paint.bold(printable(id))}${aspect ? `  ${paint.cyan(printable(aspect))}` : ""}${again}${decided(id)}`;
      const lines = [
        ...(description ? [`   ${printable(description)}`] : []),
        ...(recommendation ? [`   ${paint.green("→")} ${printable(recommendation)}`] : []),
      ];
      return [heading, ...lines].join("\n");
    }),
    ...warningsOf(extensions?.["x-warnings"]),
  ];
  return sections.join("\n\n");
}

function pointText({ aspect, justification }: Success["feedback"]["positive_points"][number], paint: Paint): string {
  return `${paint.green("+")} ${printable(aspect)}: ${printable(justification)}`;
}

/** The provider's warnings about the request. */
function warningsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [];
  const texts = list.flatMap((one: { message?: unknown } | null) =>
    typeof one?.message === "string" ? [`The provider notes: ${printable(one.message)}`] : [],
  );
  return texts.length === 0 ? [] : [texts.join("\n")];
}

export function headline(review: string, iteration: number, ids: readonly string[]): string {
  const remarks = ids.length === 0 ? "no remarks" : formatCount(ids.length, "remark");
  return `${review}, turn ${iteration}: ${remarks}`;
}

const WHY: Readonly<Partial<Record<Attempt["outcome"], string>>> = {
  session_mismatch: "the answer belongs to another session",
  wrong_agent:
    "the command does not know the agent and asked another one; `assay review setup opencode` installs it, --allow-other-agent accepts the answer",
  timeout: "the provider was stopped at a limit",
  stream_cut: "the answer ended too early",
  unparseable_answer: "the answer is not in the form of the format",
  session_not_found: "the provider has lost the session; --restart-lost-session starts a new one",
  tool_failed: "the command failed",
  no_answer: "there was no answer",
};

const DETAIL_CHARACTERS = 500;

/** The reason why a turn failed, as part of a sentence. */
export function failureText(attempt: Attempt): string {
  const { outcome, problems, toolError, response, reason, stderr, exitCode } = attempt;
  const shown = (text: string) => shorten(printable(text.trim()), DETAIL_CHARACTERS);
  const why = (): string => {
    if (outcome === "spawn_failed") return shown(toolError?.message ?? "");
    if (outcome === "response_error" && response?.status === "error") {
      return `the provider refused: ${shown(`${response.error.code} ${response.error.message ?? ""}`)}`;
    }
    if (outcome === "tool_error") {
      return `the provider failed: ${shown(`${toolError?.name ?? "error"}: ${toolError?.message ?? ""}`)}`;
    }
    if (outcome === "invalid_answer") return `the answer breaks the rules: ${shown(problems.join(", "))}`;
    const detail = outcome === "tool_failed" && stderr.trim() !== "" ? `: ${shown(stderr)}` : "";
    const ended = reason === undefined ? "" : ` (the model stopped with "${shown(reason)}")`;
    return `${WHY[outcome] ?? outcome}${ended}${detail}`;
  };
  const code = exitCode === null || exitCode === 0 ? "" : `, exit code ${exitCode}`;
  return `${why()} (${outcome}${code}, after ${formatCount(attempt.attempt, "attempt")})`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  no_remarks: "no remarks are left",
  nothing_new: "every remark was decided before",
  max_iterations: "the number of turns is reached",
  all_rejected: "all remarks of the last two turns were rejected",
  unchanged: "the file is unchanged and every remark was rejected; no request was sent",
  oscillation: "the file is the same as an earlier version; no request was sent",
  budget: "the budget is used up",
};

export function endingText(status: string, reason: string | null): string {
  const why = reason === null ? "" : ` (${reason}${ENDINGS[reason] === undefined ? "" : `: ${ENDINGS[reason]}`})`;
  return `${status}${why}`;
}

export function askedJson(asked: Asked, folder: string): object {
  const { conversation, attempt, resumed, warnings } = asked;
  const { review, status, reason, next_iteration, spent } = conversation;
  return {
    review,
    dir: folder,
    status,
    reason,
    iteration: next_iteration - 1,
    resumed,
    sent: attempt !== undefined,
    undecided: status === "open" ? undecided(conversation) : [],
    ...(attempt === undefined ? NOTHING_SENT : turnJson(attempt, warnings)),
    spent,
  };
}

const NOTHING_SENT = {
  outcome: null,
  sessionID: null,
  ids: [],
  error_code: null,
  tool_error: null,
  problems: [],
  warnings: [],
  response: null,
  exit_code: null,
  attempts: 0,
};

/** Shows the outcome of a turn and the next steps; `inDir` ends each suggested command. Returns the exit code. */
export function showAsked(asked: Asked, inDir: string, io: Io): number {
  const { conversation, attempt, resumed } = asked;
  const { review, status, reason, artifact } = conversation;
  if (resumed) io.err("An interrupted turn was sent again; it is about the file as it was then.");
  if (attempt !== undefined && attempt.outcome !== "response_success") {
    io.err(`error: ${review}: ${failureText(attempt)}.`);
    for (const line of waysOut(conversation, inDir, attempt)) io.err(line);
    return EXIT.negative;
  }
  if (attempt?.response?.status === "success") {
    io.out(io.paint.bold(headline(review, conversation.next_iteration - 1, attempt.ids)));
    const text = answerText(attempt.response, io.paint);
    if (text !== "") io.out(`\n${text}`);
    const warnings = [...attempt.warnings, ...asked.warnings];
    if (warnings.length > 0) io.err(`Unusual about this answer: ${warnings.join(", ")}.`);
  }
  if (status === "open") showNext(asked, inDir, io);
  else
    io.out(
      `${attempt === undefined ? "" : "\n"}The review of ${printable(artifact.path)} is over: ${endingText(status, reason)}.`,
    );
  return EXIT.fine;
}

function waysOut({ review, command, artifact }: Conversation, inDir: string, attempt: Attempt): string[] {
  const { outcome, errorCode, toolError } = attempt;
  const assay = programName();
  if (outcome === "response_error" && !isWorthAnother(attempt)) {
    const other = errorCode === "UNSUPPORTED_MEDIA_TYPE" ? " with another --media-type, or ask another reviewer" : "";
    return [`The same request would be refused again. Start another review${other}.`];
  }
  const again = `The review is stored: \`${assay} review next ${review} --reopen${inDir}\` tries the turn again.`;
  if (outcome === "spawn_failed" && "program" in command && basename(command.program) === REAL_COMMAND) {
    const [program = "", ...args] = [...assay.split(" "), "review", "provide"];
    const reviewer = `--command ${program} ${args.map((arg) => `--arg ${arg}`).join(" ")}`;
    return [
      "Install it with `npm install -g opencode-ai`, or use the built-in rule check, which needs no model and is no review:",
      `  ${assay} review start ${printable(shellWord(artifact.path))} ${reviewer}${inDir}`,
      again,
    ];
  }
  if (toolError?.name === "unauthenticated") return ["Set ASSAY_KEY to a key of that server, or use --key.", again];
  return [again];
}

function showNext({ conversation }: Asked, inDir: string, io: Io): void {
  const { review, artifact } = conversation;
  const [first] = openRemarks(conversation);
  const assay = programName();
  io.err(
    [
      "",
      `Decide on each, change ${printable(artifact.path)}, and ask again:`,
      `  ${assay} review decide ${review} ${printable(first?.id ?? "ID")} accepted|partial|rejected${inDir}`,
      `  ${assay} review next ${review}${inDir}`,
    ].join("\n"),
  );
}

/** The outcome of a turn as JSON: every member is always there, null without a value. */
export function turnJson(attempt: Attempt, warnings: readonly string[] = []): object {
  const { outcome, sessionID, ids, errorCode, toolError, problems, response, exitCode } = attempt;
  return {
    outcome,
    sessionID: sessionID ?? null,
    ids,
    error_code: errorCode ?? null,
    tool_error: toolErrorJson(toolError),
    problems,
    warnings: [...new Set([...attempt.warnings, ...warnings])].sort(),
    response: response === undefined ? null : responseOnWire(response),
    exit_code: exitCode,
    attempts: attempt.attempt,
  };
}

function toolErrorJson(error: TurnOutcome["toolError"]): object | null {
  if (error === undefined) return null;
  const { name = null, message = null, isRetryable = null } = error;
  return { name, message, isRetryable };
}
