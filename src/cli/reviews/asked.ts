import type { Asked } from "../../reviews/requester/ask.ts";
import { REAL_COMMAND } from "../../reviews/requester/command-line.ts";
import { openRemarks, undecided } from "../../reviews/requester/conversation.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { programName } from "../paths.ts";
import { printable } from "../printable.ts";
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

const WITHOUT_THE_REAL_ONE =
  "Install it (npm install -g opencode-ai), or ask the built-in reviewer: --command assay --arg review --arg provide";

/** What came of a turn, and what to do next. Resolves with the exit code. */
export function tellAsked(asked: Asked, io: Io): number {
  const { conversation, attempt, resumed } = asked;
  const { review, status, reason, artifact } = conversation;
  if (resumed)
    io.err("A turn that had been interrupted was sent again; what it asked about is the work as it was then.");
  if (attempt !== undefined && attempt.outcome !== "response_success") {
    io.err(`assay: ${review}: ${failureText(attempt)}.`);
    const { command } = conversation;
    if (attempt.outcome === "spawn_failed" && "program" in command && command.program === REAL_COMMAND) {
      io.err(WITHOUT_THE_REAL_ONE);
    }
    io.err(`Nothing is lost: \`${programName()} review next ${review} --reopen\` tries the turn again.`);
    return EXIT.negative;
  }
  if (attempt?.response?.status === "success") {
    io.out(io.paint.bold(headline(review, conversation.next_iteration - 1, attempt.ids)));
    const text = answerText(attempt.response, io.paint);
    if (text !== "") io.out(`\n${text}`);
    const warnings = [...attempt.warnings, ...asked.warnings];
    if (warnings.length > 0) io.err(`Unusual about this answer: ${warnings.join(", ")}.`);
  }
  if (status === "open") tellNext(asked, io);
  else
    io.out(
      `${attempt === undefined ? "" : "\n"}The review of ${printable(artifact.path)} is over: ${endingText(status, reason)}.`,
    );
  return EXIT.fine;
}

function tellNext({ conversation }: Asked, io: Io): void {
  const { review, artifact } = conversation;
  const [first] = openRemarks(conversation);
  const assay = programName();
  io.err(
    [
      "",
      `Decide on each, change ${printable(artifact.path)}, and ask again:`,
      `  ${assay} review decide ${review} ${printable(first?.id ?? "ID")} accepted|partial|rejected`,
      `  ${assay} review next ${review}`,
    ].join("\n"),
  );
}
