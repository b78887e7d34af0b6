import { type ReviewRequest, readRequest } from "../../formats/reviews/request.ts";
import { responseOnWire } from "../../formats/reviews/response.ts";
import { unifiedDiff } from "../../formats/text/unified-diff.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { decisionLines, forgottenBy, type SentArtifact, stopBeforeSending } from "./after-turn.ts";
import type { Carrier } from "./carrier.ts";
import {
  type ArtifactVersion,
  type Conversation,
  digestOf,
  linesOfContent,
  nextRequest,
  pendingDecisions,
  undecided,
} from "./conversation.ts";
import type { ConversationFiles } from "./conversation-files.ts";
import { withOutcome } from "./held-conversation.ts";
import { isUsableSession } from "./run-command.ts";
import { type Attempt, type AttemptLog, type Retries, takeTurn } from "./take-turn.ts";

export interface Asking {
  readonly carrier: Carrier;
  readonly retries: Retries;
  readonly signal: AbortSignal;
  readonly forked?: boolean;
}

export interface Asked {
  readonly conversation: Conversation;
  /** The last attempt; absent when nothing was sent. */
  readonly attempt?: Attempt;
  /** A request that a crash had left without an outcome was sent again. */
  readonly resumed: boolean;
  /** Warnings in addition to those of the answer. */
  readonly warnings: readonly string[];
}

/** Takes the next turn with this artifact, or finds that there is none to take. */
export async function ask(
  conversation: Conversation,
  artifact: ArtifactVersion,
  files: ConversationFiles,
  asking: Asking,
): Promise<Asked> {
  const missing = undecided(conversation);
  if (missing.length > 0)
    throw new AppError("review_undecided", { review: conversation.review, ids: missing.join(", ") });
  const digest = digestOf(artifact.content);
  const stop = stopBeforeSending(conversation, digest);
  if (stop !== undefined) {
    const stopped = { ...conversation, ...stop };
    await files.save(stopped);
    return { conversation: stopped, resumed: false, warnings: [] };
  }
  return send(conversation, nextRequest(conversation, artifact), files, asking);
}

/** Sends a request that a crash left without an outcome once more; undefined when there is none. */
export async function resume(
  conversation: Conversation,
  files: ConversationFiles,
  asking: Asking,
): Promise<Asked | undefined> {
  const last = await files.lastAttempt();
  if (last === 0 || files.hasOutcome(last)) return undefined;
  const request = await files.request(last);
  if (request.iteration !== conversation.next_iteration) return undefined;
  return { ...(await send({ ...conversation, status: "open", reason: null }, request, files, asking)), resumed: true };
}

async function send(
  conversation: Conversation,
  request: ReviewRequest,
  files: ConversationFiles,
  asking: Asking,
): Promise<Asked> {
  refuseInvalid(request);
  const session = sessionFor(conversation, request);
  const log = new TurnLog(conversation, files, await comparedWithLast(conversation, request, files));
  const { strict, allow_other_agent, require_clean_exit, on_lost_session } = conversation.options;
  const settings = {
    ...asking,
    ...defined({ strict, allowOtherAgent: allow_other_agent, requireCleanExit: require_clean_exit }),
  };
  const attempt = await takeTurn({ request, session }, settings, log);
  if (attempt.outcome === "response_success") {
    const lost = forgottenBy(conversation, attempt.response?.acknowledged);
    const warnings = lost.length === 0 ? [] : ["provider_forgot"];
    return { conversation: log.conversation, attempt, resumed: false, warnings };
  }
  if (attempt.outcome === "session_not_found" && session !== undefined && on_lost_session === "restart") {
    return startOver(log.conversation, request, files, asking);
  }
  const reason = attempt.errorCode === undefined ? attempt.outcome : `${attempt.outcome} ${attempt.errorCode}`;
  const failed: Conversation = { ...log.conversation, status: "failed", reason };
  await files.save(failed);
  return { conversation: failed, attempt, resumed: false, warnings: [] };
}

/** Begins a new session with the present artifact and without the decisions, which no session could take any more. */
async function startOver(
  conversation: Conversation,
  { artifact }: ReviewRequest,
  files: ConversationFiles,
  asking: Asking,
): Promise<Asked> {
  const undelivered = nextRequest(conversation, artifact as ArtifactVersion);
  const bytes = await files.addDecisions(conversation.decisions_bytes, decisionLines(conversation, undelivered));
  const fresh: Conversation = {
    ...conversation,
    session_id: null,
    next_iteration: 1,
    remarks: [],
    decisions: {},
    artifacts: [],
    decisions_bytes: bytes,
    decisions_from: bytes,
  };
  await files.save(fresh);
  const asked = await send(fresh, nextRequest(fresh, artifact as ArtifactVersion), files, asking);
  const lost = pendingDecisions(conversation).length > 0 ? ["decisions_not_delivered"] : [];
  return { ...asked, warnings: [...asked.warnings, "session_restarted", ...lost] };
}

/** Applies the checks of a provider: a request that it would refuse costs no call. */
function refuseInvalid(request: ReviewRequest): void {
  const checked = readRequest(Buffer.from(JSON.stringify(request)));
  if (!checked.ok) throw new AppError("review_request_refused", { problem: checked.message, check: checked.problem });
}

function sessionFor({ session_id, review }: Conversation, { iteration }: ReviewRequest): string | undefined {
  if (iteration === 1) return undefined;
  if (session_id !== null && isUsableSession(session_id)) return session_id;
  const named = session_id === null ? "named no session" : "named a session that cannot be passed on";
  const problem = `the provider ${named}, so the review cannot go on`;
  throw new AppError("review_request_refused", { review, problem });
}

interface Compared extends SentArtifact {
  readonly diff: string;
}

async function comparedWithLast(
  { artifacts }: Conversation,
  { artifact, iteration }: ReviewRequest,
  files: ConversationFiles,
): Promise<Compared> {
  const digest = digestOf(artifact.content);
  const last = artifacts.at(-1);
  if (last === undefined) return { digest, added: 0, removed: 0, diff: "" };
  const answered = await files.answeredAttempt(last.iteration);
  const before = answered === 0 ? "" : (await files.request(answered)).artifact.content;
  const names = { from: `turn ${last.iteration}`, to: `turn ${iteration}` };
  const { text, added, removed } = unifiedDiff(linesOfContent(before), linesOfContent(artifact.content), names);
  return { digest, added, removed, diff: text };
}

/** Keeps each attempt of a turn, and the conversation up to date with them. */
class TurnLog implements AttemptLog {
  readonly #files: ConversationFiles;
  readonly #compared: Compared;
  conversation: Conversation;
  #number = 0;

  constructor(conversation: Conversation, files: ConversationFiles, compared: Compared) {
    this.conversation = conversation;
    this.#files = files;
    this.#compared = compared;
  }

  async begin(request: ReviewRequest): Promise<string> {
    this.#number = (await this.#files.lastAttempt()) + 1;
    if (this.#compared.diff !== "") await this.#files.writeDiff(this.#number, this.#compared.diff);
    await this.#files.write(this.#number, "request.json", request);
    return this.#files.turnPath(this.#number, "stream.ndjson");
  }

  onStarted(pid: number): void {
    this.#files.noteRunning(pid);
  }

  async end(attempt: Attempt): Promise<void> {
    this.#files.noteEnded();
    if (attempt.response !== undefined) {
      await this.#files.write(this.#number, "response.json", responseOnWire(attempt.response));
    }
    const { digest, added, removed } = this.#compared;
    await this.#files.write(this.#number, "outcome.json", {
      outcome: attempt.outcome,
      iteration: this.conversation.next_iteration,
      attempt: attempt.attempt,
      session_id: attempt.sessionID ?? null,
      ids: attempt.ids,
      error_code: attempt.errorCode ?? null,
      tool_error: attempt.toolError ?? null,
      problems: attempt.problems,
      warnings: attempt.warnings,
      reason: attempt.reason ?? null,
      exit_code: attempt.exitCode,
      duration_ms: attempt.durationMs,
      spent: attempt.spent,
      artifact: { digest, added, removed },
      stderr: attempt.stderr.slice(0, STDERR_KEPT),
    });
    this.conversation = await withOutcome(this.conversation, this.#number, this.#files);
  }
}

const STDERR_KEPT = 4_096;
