import { dirname, relative, resolve } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { type Conversation, DEFAULT_MAX_ITERATIONS } from "../../reviews/requester/conversation.ts";
import { ConversationFiles } from "../../reviews/requester/conversation-files.ts";
import { explained } from "../../reviews/requester/held-conversation.ts";
import { makeReviewFolder, newReviewName } from "../../reviews/requester/reviews-folder.ts";
import { printable, shellWord } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { providerOf, workDirOf } from "./provider.ts";
import type { REVIEW_START_FLAGS } from "./review-ask-commands.ts";
import { mediaTypeFor } from "./work-file.ts";

const DEFAULT_ROOT = ".assay/reviews";
/** How long to wait for another process that works on the same review. */
const LOCK_WAIT_MS = 5_000;

export function rootOf({ dir }: { readonly dir: string | undefined }): string {
  return resolve(dir ?? DEFAULT_ROOT);
}

/** What a command that is suggested needs to find the review in this folder. */
export function sameDir(folder: string): string {
  const root = dirname(folder);
  if (root === resolve(DEFAULT_ROOT)) return "";
  const near = relative(".", root) || ".";
  return ` --dir ${printable(shellWord(near.startsWith("..") ? root : near))}`;
}

export function holdingOf({ reviewKillMs }: { readonly reviewKillMs: number }) {
  return { lockWaitMs: LOCK_WAIT_MS, killMs: reviewKillMs };
}

export interface NewConversation {
  readonly conversation: Conversation;
  readonly folder: string;
}

/** A conversation that has not begun, on disk, so that a crash of its first turn can be taken up. */
export async function newConversation(call: Call<typeof REVIEW_START_FLAGS>): Promise<NewConversation> {
  const { args, flags } = call;
  const path = resolve(args[0] ?? "");
  const maxCost = costOf(flags.maxCost);
  const conversation: Conversation = {
    version: 1,
    review: newReviewName(path),
    created_at: new Date().toISOString(),
    session_id: null,
    directory: workDirOf(flags),
    command: providerOf(call),
    artifact: { path, media_type: mediaTypeFor(path, flags.mediaType) },
    next_iteration: 1,
    remarks: [],
    decisions: {},
    artifacts: [],
    decisions_bytes: 0,
    decisions_from: 0,
    status: "open",
    reason: null,
    attempts: 0,
    spent: { tokens: 0, cost: 0, ms: 0 },
    limits: {
      max_iterations: flags.maxIterations ?? DEFAULT_MAX_ITERATIONS,
      ...(flags.maxTokens === undefined ? {} : { max_tokens: flags.maxTokens }),
      ...(maxCost === undefined ? {} : { max_cost: maxCost }),
      ...(flags.maxTimeMs === undefined ? {} : { max_ms: flags.maxTimeMs }),
    },
    options: {
      ...(flags.strict ? { strict: true } : {}),
      ...(flags.allowOtherAgent ? { allow_other_agent: true } : {}),
      ...(flags.requireCleanExit ? { require_clean_exit: true } : {}),
      ...(flags.restartLostSession ? { on_lost_session: "restart" as const } : {}),
    },
  };
  const root = rootOf(flags);
  return explained(root, async () => {
    const folder = await makeReviewFolder(root, conversation.review);
    await new ConversationFiles(folder).create(conversation);
    return { conversation, folder };
  });
}

function costOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const cost = Number(text);
  if (text.trim() !== "" && Number.isFinite(cost) && cost > 0) return cost;
  throw new AppError("unusable_input", { problem: `--max-cost must be a number above 0, not ${text}` });
}
