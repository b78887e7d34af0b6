import { basename } from "node:path";
import type { Asked } from "../../reviews/requester/ask.ts";
import { REAL_COMMAND } from "../../reviews/requester/command-line.ts";
import { type Conversation, openRemarks, undecided } from "../../reviews/requester/conversation.ts";
import { isWorthAnother } from "../../reviews/requester/retry.ts";
import type { Attempt } from "../../reviews/requester/take-turn.ts";
import type { Io } from "../output/io.ts";
import { printable, shellWord } from "../output/printable.ts";
import { programName } from "../paths.ts";
import { EXIT } from "../program/exit-codes.ts";
import { answerText, failureText, headline } from "./answer-text.ts";
import { turnJson } from "./turn-json.ts";

const ENDINGS: Readonly<Record<string, string>> = {
  no_remarks: "nothing is left to improve",
  nothing_new: "everything that was said has been decided on before",
  max_iterations: "the number of turns is reached",
  all_rejected: "everything of the last two turns was rejected",
  unchanged: "the work is as it was, and everything was rejected; nothing was sent",
  oscillation: "the work is back at an earlier version; nothing was sent",
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

/** What came of a turn, and what to do next; `inDir` ends each command that is suggested. Returns the exit code. */
export function tellAsked(asked: Asked, inDir: string, io: Io): number {
  const { conversation, attempt, resumed } = asked;
  const { review, status, reason, artifact } = conversation;
  if (resumed)
    io.err("A turn that had been interrupted was sent again; what it asked about is the work as it was then.");
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
  if (status === "open") tellNext(asked, inDir, io);
  else
    io.out(
      `${attempt === undefined ? "" : "\n"}The review of ${printable(artifact.path)} is over: ${endingText(status, reason)}.`,
    );
  return EXIT.fine;
}

/** What helps after a failure. */
function waysOut({ review, command, artifact }: Conversation, inDir: string, attempt: Attempt): string[] {
  const { outcome, errorCode, toolError } = attempt;
  const assay = programName();
  if (outcome === "response_error" && !isWorthAnother(attempt)) {
    const other = errorCode === "UNSUPPORTED_MEDIA_TYPE" ? " with another --media-type, or ask another reviewer" : "";
    return [`The same request would be refused again. Start another review${other}.`];
  }
  const again = `Nothing is lost: \`${assay} review next ${review} --reopen${inDir}\` tries the turn again.`;
  if (outcome === "spawn_failed" && "program" in command && basename(command.program) === REAL_COMMAND) {
    const [program = "", ...args] = [...assay.split(" "), "review", "provide"];
    const reviewer = `--command ${program} ${args.map((arg) => `--arg ${arg}`).join(" ")}`;
    return [
      "Install it with `npm install -g opencode-ai`, or take the built-in rule check, which needs no model and is no review:",
      `  ${assay} review start ${printable(shellWord(artifact.path))} ${reviewer}${inDir}`,
      again,
    ];
  }
  if (toolError?.name === "unauthenticated") return ["Set ASSAY_KEY to a key of that server, or use --key.", again];
  return [again];
}

function tellNext({ conversation }: Asked, inDir: string, io: Io): void {
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
