import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import { unusableInput } from "../../protocol/errors.ts";
import type { ReviewedConversation, SentDecision } from "../analytics.ts";
import type { DecisionLine } from "./after-turn.ts";
import type { Conversation, Provider } from "./conversation.ts";
import { ConversationFiles } from "./conversation-files.ts";
import { REAL_COMMAND } from "./run-command.ts";

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/i;
const STATE = "state.json";
const LETTERS = "abcdefghjkmnpqrstvwxyz23456789";

/** A name for people: what is reviewed, and something that no other review has. */
export function newReviewName(path: string, random: Uint8Array = randomBytes(6)): string {
  const stem = basename(path)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  const tail = [...random].map((byte) => LETTERS[byte % LETTERS.length]).join("");
  return stem === "" ? `review-${tail}` : `${stem}-${tail}`;
}

export async function makeReviewFolder(root: string, review: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const folder = join(root, review);
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

/**
 * The folder of a review by its path, its name or a prefix of its name: the only match, or the only open one among several, since
 * ended reviews are not continued.
 */
export async function findReview(
  root: string,
  named: string,
): Promise<{ readonly review: string; readonly folder: string }> {
  const path = resolve(named);
  if (named.includes(sep) && existsSync(join(path, STATE))) return { review: basename(path), folder: path };
  const names = await reviewNames(root);
  const alike = names.includes(named) ? [named] : names.filter((name) => named !== "" && name.startsWith(named));
  const open = alike.length > 1 ? await openOnes(root, alike) : [];
  const found = open.length === 1 ? open : alike;
  const [review] = found;
  if (review !== undefined && found.length === 1) return { review, folder: join(root, review) };
  const problem =
    found.length > 1
      ? `${named} could be ${found.join(" or ")}; type more of it`
      : `no review in ${root} is called ${named}; \`assay review show\` lists them`;
  throw unusableInput(problem);
}

/** A conversation that cannot be read may be open. */
async function openOnes(root: string, names: readonly string[]): Promise<string[]> {
  const isOpen = await Promise.all(
    names.map(async (name) => {
      const loaded = await new ConversationFiles(join(root, name)).load().catch(() => undefined);
      return loaded === undefined || loaded.status === "open";
    }),
  );
  return names.filter((_, i) => isOpen[i]);
}

/** Every folder that holds one. */
async function reviewNames(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && NAME.test(entry.name) && existsSync(join(root, entry.name, STATE)))
    .map(({ name }) => name)
    .sort();
}

export interface ListedReview {
  readonly conversation: Conversation;
  readonly files: ConversationFiles;
}

/** Oldest first. One that cannot be read is an error: figures without it would be wrong. */
export async function loadReviews(root: string): Promise<ListedReview[]> {
  const loaded = await Promise.all(
    (await reviewNames(root)).map(async (name) => {
      const files = new ConversationFiles(join(root, name));
      return { conversation: await files.load(), files };
    }),
  );
  return loaded.sort((a, b) => (a.conversation.created_at < b.conversation.created_at ? -1 : 1));
}

/** The input of the figures, from the record of a conversation. */
export function reviewedConversation(conversation: Conversation, lines: readonly DecisionLine[]): ReviewedConversation {
  const { review, status, remarks, artifacts } = conversation;
  return {
    conversation: review,
    reviewer: reviewerOf(conversation.command),
    status,
    answers: artifacts.map(({ iteration }) => ({
      iteration,
      remarks: remarks.filter(({ iterations }) => iterations.includes(iteration)),
    })),
    decisions: lines.map(({ iteration, id, status, reason_code, ack }) => ({
      iteration,
      id,
      status: status as SentDecision["status"],
      ack,
      ...(reason_code === null ? {} : { reason_code }),
    })),
    artifacts: artifacts.map(({ digest }) => digest),
  };
}

/** A short and unique name of the provider. */
export function reviewerOf(provider: Provider): string {
  if ("url" in provider) return `${provider.agent} at ${provider.url}`;
  const { program, args, agent } = provider;
  return program === REAL_COMMAND ? agent : `${agent} of ${[program, ...args].join(" ")}`;
}
