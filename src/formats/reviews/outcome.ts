import { defined } from "../../protocol/defined.ts";
import type { Expected } from "./check-response.ts";
import { AnswerFinder, type Choice, type Spent, type ToolError } from "./choose-answer.ts";
import type { ReviewResponse } from "./response.ts";
import { WrapperStream } from "./wrapper-stream.ts";

export type OutcomeName =
  | "spawn_failed"
  | "session_mismatch"
  | "wrong_agent"
  | "response_success"
  | "response_error"
  | "timeout"
  | "tool_error"
  | "stream_cut"
  | "invalid_answer"
  | "unparseable_answer"
  | "session_not_found"
  | "tool_failed"
  | "no_answer";

/** The end of the command, apart from its output. */
export interface Ending {
  readonly exitCode: number | null;
  /** The signal that ended it, from any sender. */
  readonly signal?: string | undefined;
  /** The command was stopped because a limit was reached. */
  readonly limited?: boolean;
  /** The stream broke off. */
  readonly broken?: boolean;
  readonly stderr: string;
}

export interface Question extends Expected {
  /** The session in the request, unless a copy of it was asked for. */
  readonly session?: string;
  readonly allowOtherAgent?: boolean;
  /** An answer counts only when the command ended successfully. */
  readonly requireCleanExit?: boolean;
}

export interface TurnOutcome {
  readonly outcome: OutcomeName;
  readonly sessionID?: string;
  readonly ids: readonly string[];
  readonly errorCode?: string;
  readonly toolError?: ToolError;
  readonly problems: readonly string[];
  /** Sorted. */
  readonly warnings: readonly string[];
  readonly response?: ReviewResponse;
  /** The stop reason of the agent, where no answer was found. */
  readonly reason?: string;
}

const NOT_CLEAN = ["nonzero_exit", "error_message", "no_step_finish"];

/** Follows one run of a command and returns its outcome. */
export class TurnReader {
  readonly #question: Question;
  readonly #finder = new AnswerFinder();
  readonly #stream: WrapperStream;
  #session: string | undefined;
  #mismatch = false;
  #answered = false;
  #bytes = 0;

  constructor(question: Question) {
    this.#question = question;
    this.#stream = new WrapperStream((message) => {
      if (message.sessionID !== undefined) this.#name(message.sessionID);
      this.#finder.take(message);
      if (message.type === "step_finish") this.#answered ||= this.#finder.answeredBy(question);
    });
  }

  get sessionID(): string | undefined {
    return this.#session;
  }

  get lines(): number {
    return this.#stream.lines;
  }

  /** Whether a step that ended holds a usable answer: the command may be stopped. */
  get answered(): boolean {
    return this.#answered;
  }

  get spent(): Spent {
    return this.#finder.spent;
  }

  take(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#stream.take(bytes);
  }

  end(ending: Ending): TurnOutcome {
    this.#stream.end();
    const session = this.#session === undefined ? {} : { sessionID: this.#session };
    const nothing = { ...session, ids: [], problems: [], warnings: [] };
    if (this.#mismatch) return { ...nothing, outcome: "session_mismatch" };
    if (!this.#question.allowOtherAgent && ending.stderr.includes("Falling back to default agent")) {
      return { ...nothing, outcome: "wrong_agent" };
    }
    const choice = this.#finder.choose(this.#question);
    const answered = choice.best === undefined ? undefined : this.#answer(choice.best, ending);
    const isClean = answered?.warnings.every((warning) => !NOT_CLEAN.includes(warning));
    if (answered !== undefined && (isClean || !this.#question.requireCleanExit)) return { ...session, ...answered };
    return { ...session, ...this.#failure(choice, ending) };
  }

  #name(session: string): void {
    this.#session ??= session;
    const { session: named = session } = this.#question;
    if (session !== this.#session || session !== named) this.#mismatch = true;
  }

  #answer(best: NonNullable<Choice["best"]>, ending: Ending): TurnOutcome {
    const { checked, decoded, several, finished } = best;
    const response = checked.response as ReviewResponse;
    const unusual = [
      ...(decoded.how === "strict" ? [] : [decoded.how]),
      ...(several ? ["several_answers"] : []),
      ...(finished ? [] : ["no_step_finish"]),
      ...(this.#stream.cut ? ["cut_line"] : []),
      ...this.#endedBadly(ending),
    ];
    const warnings = sorted([...checked.warnings, ...this.#readingWarnings(), ...unusual]);
    if (response.status === "success") {
      const ids = response.feedback.areas_for_improvement.map(({ id }) => id);
      return { outcome: "response_success", ids, problems: [], warnings, response };
    }
    const { code } = response.error;
    return { outcome: "response_error", ids: [], errorCode: code, problems: [], warnings, response };
  }

  #endedBadly({ exitCode, signal, limited }: Ending): string[] {
    if (limited || (signal !== undefined && exitCode === null)) return ["forced_stop"];
    return exitCode === 0 ? [] : ["nonzero_exit"];
  }

  #failure({ best, rejected }: Choice, ending: Ending): TurnOutcome {
    const { toolError } = this.#finder;
    const plain = { ids: [], problems: [], warnings: sorted(this.#readingWarnings()) };
    if (ending.limited) return { ...plain, outcome: "timeout" };
    if (toolError) return { ...plain, outcome: "tool_error", toolError };
    if (ending.broken || this.#stream.cut || this.#finder.unfinished) return { ...plain, outcome: "stream_cut" };
    // The answer does not count because the command did not end successfully.
    if (best) return { ...plain, outcome: best.finished ? "tool_failed" : "stream_cut" };
    if (rejected) return { ...plain, outcome: "invalid_answer", problems: rejected.problems };
    if (this.#finder.hasText) {
      const reason = this.#finder.lastReason;
      return { ...plain, outcome: "unparseable_answer", ...defined({ reason }) };
    }
    if (ending.exitCode === 0) return { ...plain, outcome: "no_answer" };
    const lost = this.#bytes === 0 && /session not found/i.test(ending.stderr);
    return { ...plain, outcome: lost ? "session_not_found" : "tool_failed" };
  }

  #readingWarnings(): string[] {
    return [...this.#stream.warnings, ...this.#finder.warnings];
  }
}

function sorted(warnings: readonly string[]): string[] {
  return [...new Set(warnings)].sort();
}
