import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { endLeftOver, markOf, type ProcessMark } from "../../engine/programs/started-program.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import { checkResponse } from "../../formats/reviews/check-response.ts";
import { checkRequest, type ReviewRequest } from "../../formats/reviews/request.ts";
import type { ReviewResponse } from "../../formats/reviews/response.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { replaceFile } from "../provider/files.ts";
import type { DecisionLine, RecordedOutcome, SentArtifact } from "./after-turn.ts";
import { type Conversation, conversationText, readConversation } from "./conversation.ts";

/** `NNN-outcome.json`: the last file of an attempt. Without it the attempt has not ended. */
export interface OutcomeFile extends RecordedOutcome {
  readonly iteration: number;
  readonly artifact: SentArtifact;
}

/** The files of one conversation. Writers hold its lock. */
export class ConversationFiles {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async create(conversation: Conversation): Promise<void> {
    await mkdir(join(this.folder, "turns"), { recursive: true, mode: 0o700 });
    await this.save(conversation);
  }

  async load(): Promise<Conversation> {
    const path = join(this.folder, "state.json");
    const read = readConversation(await readFile(path, "utf8").catch(failing(path)));
    if (read.ok) return read.conversation;
    throw unreadable(path, read.problem);
  }

  save(conversation: Conversation): Promise<void> {
    return replaceFile(join(this.folder, "state.json"), conversationText(conversation));
  }

  turnPath(attempt: number, what: "request.json" | "stream.ndjson" | "response.json" | "outcome.json" | "diff.patch") {
    return join(this.folder, "turns", `${String(attempt).padStart(3, "0")}-${what}`);
  }

  /** The number of the last attempt that was begun, 0 before the first. */
  async lastAttempt(): Promise<number> {
    const names = await readdir(join(this.folder, "turns")).catch(() => []);
    const numbers = names.map((name) => Number(/^(\d{3,})-request\.json$/.exec(name)?.[1] ?? 0));
    return numbers.reduce((most, one) => Math.max(most, one), 0);
  }

  hasOutcome(attempt: number): boolean {
    return existsSync(this.turnPath(attempt, "outcome.json"));
  }

  write(attempt: number, what: "request.json" | "response.json" | "outcome.json", value: object): Promise<void> {
    return replaceFile(this.turnPath(attempt, what), `${JSON.stringify(value, null, 2)}\n`);
  }

  writeDiff(attempt: number, diff: string): Promise<void> {
    return replaceFile(this.turnPath(attempt, "diff.patch"), diff);
  }

  async request(attempt: number): Promise<ReviewRequest> {
    const path = this.turnPath(attempt, "request.json");
    // The size limit does not apply: a request that fits on one line is larger when it is indented.
    const checked = checkRequest(parsed(await readFile(path, "utf8").catch(failing(path))));
    if (checked.ok) return checked.request;
    throw unreadable(path, checked.message);
  }

  async outcome(attempt: number): Promise<OutcomeFile> {
    const path = this.turnPath(attempt, "outcome.json");
    const value = parsed(await readFile(path, "utf8").catch(failing(path)));
    if (typeof value?.["outcome"] === "string") return value as unknown as OutcomeFile;
    throw unreadable(path, "it is not the outcome of an attempt");
  }

  /** The answer of an attempt; undefined when it has none that can be used. */
  async response(attempt: number, request: ReviewRequest): Promise<ReviewResponse | undefined> {
    const path = this.turnPath(attempt, "response.json");
    if (!existsSync(path)) return undefined;
    const sentIds = request.applied_feedback?.items.map(({ id }) => id);
    const asked = { iteration: request.iteration, ...defined({ sentIds }) };
    return checkResponse(parsed(await readFile(path, "utf8").catch(failing(path))), asked).response;
  }

  /** The attempt in which a turn was answered; of several after a new beginning the last. 0 for none. */
  async answeredAttempt(iteration: number): Promise<number> {
    for (let attempt = await this.lastAttempt(); attempt > 0; attempt--) {
      if (!this.hasOutcome(attempt)) continue;
      const recorded = await this.outcome(attempt);
      if (recorded.outcome === "response_success" && recorded.iteration === iteration) return attempt;
    }
    return 0;
  }

  /**
   * Adds to the log of decisions after this many bytes: later bytes are from a writer that was killed before it recorded them, and
   * are replaced. Resolves with the new length.
   */
  async addDecisions(afterBytes: number, lines: readonly DecisionLine[]): Promise<number> {
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const file = await open(join(this.folder, "decisions.ndjson"), "a+", 0o600);
    try {
      const { size } = await file.stat();
      const start = Math.min(size, afterBytes);
      if (size > start) await file.truncate(start);
      await file.appendFile(bytes);
      await file.sync();
      return start + bytes.length;
    } finally {
      await file.close();
    }
  }

  async decisions({ decisions_from, decisions_bytes }: Conversation): Promise<DecisionLine[]> {
    const bytes = await readFile(join(this.folder, "decisions.ndjson")).catch(() => Buffer.alloc(0));
    const lines = bytes.subarray(decisions_from, decisions_bytes).toString("utf8").split("\n");
    return lines.flatMap((line) => (parsed(line) as unknown as DecisionLine | undefined) ?? []);
  }

  /** Records which process works for this conversation, so that it can be ended after a crash. */
  noteRunning(pid: number): void {
    writeFileSync(this.#runningPath, JSON.stringify(markOf(pid)), { mode: 0o600 });
  }

  noteEnded(): void {
    rmSync(this.#runningPath, { force: true });
  }

  /** Two processes on one session would answer each other for ever. */
  async endLeftOver(killMs: number): Promise<void> {
    if (!existsSync(this.#runningPath)) return;
    const mark = parsed(readFileSync(this.#runningPath, "utf8")) as unknown as ProcessMark | undefined;
    if (Number.isSafeInteger(mark?.pid) && typeof mark?.started === "string" && mark.pid > 1)
      await endLeftOver(mark, killMs);
    this.noteEnded();
  }

  get #runningPath(): string {
    return join(this.folder, "running.json");
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parsedJson(text);
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function failing(path: string): (error: Error) => never {
  return (error) => {
    throw unreadable(path, error.message);
  };
}

function unreadable(path: string, problem: string): AppError {
  return new AppError("review_unreadable", { path, problem });
}

/** The last success answer of the conversation; undefined before the first. */
export async function lastAnswer(
  { next_iteration }: Conversation,
  files: ConversationFiles,
): Promise<(ReviewResponse & { readonly status: "success" }) | undefined> {
  const attempt = await files.answeredAttempt(next_iteration - 1);
  if (attempt === 0) return undefined;
  const response = await files.response(attempt, await files.request(attempt));
  return response?.status === "success" ? response : undefined;
}
