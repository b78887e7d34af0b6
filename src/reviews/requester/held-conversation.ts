import { existsSync } from "node:fs";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { lockDirectory } from "../provider/directory-lock.ts";
import { removeDrafts } from "../provider/files.ts";
import { afterAnswer, afterAttempt, decisionLines } from "./after-turn.ts";
import type { Conversation } from "./conversation.ts";
import { ConversationFiles } from "./conversation-files.ts";

export interface Holding {
  /** The time to wait for another process that works on the conversation. */
  readonly lockWaitMs: number;
  /** The time for an orphaned process to end before it is killed. */
  readonly killMs: number;
}

/**
 * Works on a conversation exclusively, across processes. The remains of a crash are put in order first: an attempt whose outcome
 * was written counts, and an orphaned process is ended. Files that cannot be written are `unusable_input`.
 */
export async function withConversation<T>(
  folder: string,
  review: string,
  holding: Holding,
  work: (conversation: Conversation, files: ConversationFiles) => Promise<T>,
): Promise<T> {
  const files = new ConversationFiles(folder);
  return explained(folder, async () => {
    const lock = await lockDirectory(folder, holding.lockWaitMs);
    if (lock === undefined) throw new AppError("review_in_use", { review });
    try {
      await files.endLeftOver(holding.killMs);
      await removeDrafts(folder, "state.json");
      return await work(await caughtUp(files), files);
    } finally {
      await lock.release();
    }
  });
}

/** Takes in the outcomes that the state does not know of yet. */
async function caughtUp(files: ConversationFiles): Promise<Conversation> {
  const loaded = await files.load();
  const last = await files.lastAttempt();
  let conversation = loaded;
  for (let attempt = loaded.attempts + 1; attempt <= last; attempt++) {
    if (files.hasOutcome(attempt)) conversation = await withOutcome(conversation, attempt, files);
  }
  return conversation;
}

/** The conversation after an attempt that has ended, on disk as well. */
export async function withOutcome(
  conversation: Conversation,
  attempt: number,
  files: ConversationFiles,
): Promise<Conversation> {
  const recorded = await files.outcome(attempt);
  let moved = afterAttempt(conversation, attempt, recorded);
  if (recorded.outcome === "response_success") {
    const request = await files.request(attempt);
    const response = await files.response(attempt, request);
    if (response?.status === "success") {
      const lines = decisionLines(conversation, request, response.acknowledged);
      const decisions_bytes = await files.addDecisions(conversation.decisions_bytes, lines);
      const about = { ...recorded.artifact, session_id: recorded.session_id };
      moved = { ...afterAnswer(moved, request, response, about), decisions_bytes };
    }
  }
  await files.save(moved);
  return moved;
}

export async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { syscall, code, message } = error as NodeJS.ErrnoException;
    if (error instanceof AppError || syscall === undefined) throw error;
    const gone = code === "ENOENT" && !existsSync(path);
    const problem = gone ? `there is no ${path}` : `${path} cannot be used: ${message}`;
    throw unusableInput(problem, error);
  }
}
