import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { mediaTypeOfFile } from "../../formats/reviews/media-types.ts";
import { mediaTypeOf, REQUEST_BYTES_MAX } from "../../formats/reviews/request.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import {
  type ArtifactVersion,
  type Conversation,
  DEFAULT_MAX_ITERATIONS,
  digestOf,
} from "../../reviews/requester/conversation.ts";
import { ConversationFiles } from "../../reviews/requester/conversation-files.ts";
import { explained } from "../../reviews/requester/held-conversation.ts";
import { makeReviewFolder, newReviewName } from "../../reviews/requester/reviews-folder.ts";
import { writeWhole } from "../files/write-file.ts";
import { printable, shellWord } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { REVIEW_START_FLAGS } from "./commands.ts";
import { providerOf, workDirOf } from "./provider.ts";

const DEFAULT_ROOT = ".assay/reviews";
/** How long to wait for another process that works on the same review. */
const LOCK_WAIT_MS = 5_000;

export function rootOf({ dir }: { readonly dir: string | undefined }): string {
  return resolve(dir ?? DEFAULT_ROOT);
}

/** The flag with which a suggested command finds the review in this folder. */
export function sameDir(folder: string): string {
  const root = dirname(folder);
  if (root === resolve(DEFAULT_ROOT)) return "";
  const near = relative(".", root) || ".";
  return ` --dir ${printable(shellWord(near.startsWith("..") ? root : near))}`;
}

export function holdingOf({ reviewKillMs }: { readonly reviewKillMs: number }) {
  return { lockWaitMs: LOCK_WAIT_MS, killMs: reviewKillMs };
}

export interface NamedFolder {
  readonly review: string;
  readonly folder: string;
}

interface NewConversation extends NamedFolder {
  readonly conversation: Conversation;
}

/** Stores a new conversation before its first turn, so that the turn can be resumed after a crash. */
export async function newConversation(call: Call<typeof REVIEW_START_FLAGS>): Promise<NewConversation> {
  const { args, flags } = call;
  const path = resolve(args[0] ?? "");
  const review = newReviewName(path);
  const conversation: Conversation = {
    version: 1,
    review,
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
      ...defined({ max_tokens: flags.maxTokens, max_cost: costOf(flags.maxCost), max_ms: flags.maxTimeMs }),
    },
    options: defined({
      strict: flags.strict || undefined,
      allow_other_agent: flags.allowOtherAgent || undefined,
      require_clean_exit: flags.requireCleanExit || undefined,
      on_lost_session: flags.restartLostSession ? ("restart" as const) : undefined,
    }),
  };
  const root = rootOf(flags);
  return explained(root, async () => {
    const folder = await makeReviewFolder(root, review);
    await new ConversationFiles(folder).create(conversation);
    return { conversation, review, folder };
  });
}

function costOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const cost = Number(text);
  if (text.trim() !== "" && Number.isFinite(cost) && cost > 0) return cost;
  throw unusableInput(`--max-cost must be a number above 0, not ${text}`);
}

/** The file under review as a text, also when it is JSON, so that it is sent exactly. */
export async function readWork(path: string, mediaType: string, ref: string | undefined): Promise<ArtifactVersion> {
  const { size } = await stat(path).catch(unreadable(path));
  if (size > REQUEST_BYTES_MAX)
    throw unusableInput(`${path} is larger than a request may be (${REQUEST_BYTES_MAX} bytes)`);
  const bytes = await readFile(path).catch(unreadable(path));
  if (!isUtf8(bytes)) throw unusableInput(`${path} is not a text in UTF-8`);
  const content = bytes.toString("utf8");
  return { media_type: mediaType, content, artifact_ref: ref ?? digestOf(content) };
}

export function mediaTypeFor(path: string, given: string | undefined): string {
  if (given === undefined) return mediaTypeOfFile(path);
  if (mediaTypeOf(given) === undefined) throw unusableInput(`--media-type must look like text/markdown, not ${given}`);
  return given;
}

export async function writeWork(path: string, { content }: ArtifactVersion): Promise<void> {
  const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
  await writeWhole(path, [text]);
}

function unreadable(path: string): (error: Error) => never {
  return ({ message }) => {
    throw unusableInput(`${path} cannot be read: ${message}`);
  };
}
