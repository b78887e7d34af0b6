import { setTimeout as sleep } from "node:timers/promises";
import type { Spent } from "../../formats/reviews/choose-answer.ts";
import { type Question, type TurnOutcome, TurnReader } from "../../formats/reviews/outcome.ts";
import type { ReviewRequest } from "../../formats/reviews/request.ts";
import { defined } from "../../protocol/defined.ts";
import type { Carrier } from "./carrier.ts";

export interface Attempt extends TurnOutcome {
  /** From 1 on, within the turn. */
  readonly attempt: number;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly spent: Spent;
  /** Error output, for the analysis of a failure. */
  readonly stderr: string;
}

export interface TurnSettings {
  readonly carrier: Carrier;
  readonly retries: Retries;
  readonly signal: AbortSignal;
  /** A copy of the session is asked for, so another one comes back. */
  readonly forked?: boolean;
  readonly strict?: boolean;
  readonly allowOtherAgent?: boolean;
  readonly requireCleanExit?: boolean;
}

export interface AttemptLog {
  /** Called before anything is sent. Resolves with the path for the stream. */
  begin(request: ReviewRequest): Promise<string>;
  end(attempt: Attempt): Promise<void>;
  onStarted?(pid: number): void;
}

export interface Turn {
  readonly request: ReviewRequest;
  /** The request as its author wrote it, on one line; absent: serialized anew. */
  readonly line?: string;
  readonly session: string | undefined;
}

/** Sends a request until it is answered or a further attempt is not worthwhile. Resolves with the last attempt. */
export async function takeTurn(turn: Turn, settings: TurnSettings, log: AttemptLog): Promise<Attempt> {
  for (let attempt = 1; ; attempt++) {
    const made = await attemptTurn(turn, settings, log, attempt);
    await log.end(made);
    const waitMs = waitBefore(made, attempt, settings.retries);
    if (waitMs === undefined) return made;
    await sleep(waitMs, undefined, { signal: settings.signal });
  }
}

async function attemptTurn(turn: Turn, settings: TurnSettings, log: AttemptLog, attempt: number): Promise<Attempt> {
  const { request, line = JSON.stringify(request), session } = turn;
  const streamPath = await log.begin(request);
  const reader = new TurnReader(questionOf(turn, settings));
  const startedMs = performance.now();
  const sent = await settings.carrier.send({
    line,
    session,
    streamPath,
    watch: reader,
    signal: settings.signal,
    onStarted: (pid) => log.onStarted?.(pid),
  });
  const durationMs = Math.round(performance.now() - startedMs);
  if (sent.started) {
    const { exitCode, stderr } = sent;
    return { ...reader.end(sent), attempt, exitCode, durationMs, spent: reader.spent, stderr };
  }
  const { name, message } = sent;
  return {
    outcome: "spawn_failed",
    ids: [],
    toolError: { name, message, isRetryable: false },
    problems: [],
    warnings: [],
    attempt,
    exitCode: null,
    durationMs,
    spent: reader.spent,
    stderr: "",
  };
}

function questionOf({ request, session }: Turn, settings: TurnSettings): Question {
  const { forked, strict, allowOtherAgent, requireCleanExit } = settings;
  const sent = request.applied_feedback?.items.map(({ id }) => id);
  return {
    iteration: request.iteration,
    ...defined({ sentIds: sent }),
    ...(session === undefined || forked ? {} : { session }),
    ...defined({ strict, allowOtherAgent, requireCleanExit }),
  };
}

export interface Retries {
  /** The wait before each further attempt; their number is the number of further attempts. */
  readonly waitsMs: readonly number[];
  /** From 0 to 1; extends a wait by up to a quarter, so that many failed requests are not repeated together. */
  readonly random: () => number;
}

const STRETCH = 0.25;

const WORTH_ANOTHER: ReadonlySet<TurnOutcome["outcome"]> = new Set([
  "timeout",
  "stream_cut",
  "no_answer",
  "unparseable_answer",
  "invalid_answer",
  "tool_failed",
]);

/** Errors that repeat, whatever their own flag is. */
const FINAL_ERRORS: ReadonlySet<string> = new Set(["ContextOverflowError", "ContentFilterError"]);

/** Whether the same request may fare better another time. */
export function isWorthAnother({ outcome, errorCode, toolError }: TurnOutcome): boolean {
  if (outcome === "response_error") return errorCode === "INTERNAL_ERROR";
  if (outcome === "tool_error") return toolError?.isRetryable !== false && !FINAL_ERRORS.has(toolError?.name ?? "");
  return WORTH_ANOTHER.has(outcome);
}

/** The wait before another attempt; undefined when there is none. */
export function waitBefore(outcome: TurnOutcome, attempt: number, { waitsMs, random }: Retries): number | undefined {
  const wait = isWorthAnother(outcome) ? waitsMs[attempt - 1] : undefined;
  return wait === undefined ? undefined : Math.round(wait * (1 + STRETCH * random()));
}
