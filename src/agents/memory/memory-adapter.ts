import { eachDocument } from "../../engine/shared/all-documents.ts";
import { serializeFor } from "../../engine/shared/serialize.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { Document, Documents, DocumentWrite } from "../../store/port/documents.ts";
import { changed, idOf, type MemoryScope, prefixOf, type ReadAt, visibleIn } from "./memory-document.ts";

export interface MemorySettings {
  readonly maxEntrySizeBytes: number;
  /** Entries of one memory, those that are kept for older runs included, and the bytes of all of them. */
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** A memory is read with each task of its agent, and an agent may put away more and more: without limits it would use up the memory of the host. */
export const MEMORY_DEFAULTS: MemorySettings = {
  maxEntrySizeBytes: 65_536,
  maxEntries: 5_000,
  maxBytes: 16_000_000,
};

export interface ListOptions {
  /** 0 is no limit of one's own. */
  readonly limit?: number;
  readonly tag?: string;
}

/** The state that a run reads: that at its start. Absent: the present one. */
export type SeenBy = Pick<ReadAt, "asOfMs" | "runId">;

export interface NewEntry {
  /** Absent: a new one. */
  readonly id?: string;
  readonly content: string;
  readonly tags?: readonly string[];
  /** ISO 8601. */
  readonly expiresAt?: string;
}

/** A change that is decided and not written yet: the caller writes it together with its own records. */
export interface MemoryChange {
  readonly memoryId: string;
  readonly entry?: MemoryEntry;
  readonly write: DocumentWrite;
}

/** Memory of agents across runs. */
export interface MemoryAdapter {
  /** Newest first. */
  list(scope: MemoryScope, options?: ListOptions, seenBy?: SeenBy): Promise<MemoryEntry[]>;
  get(scope: MemoryScope, id: string, seenBy?: SeenBy): Promise<MemoryEntry | null>;
  /** Throws `validation_error` for what cannot be kept. Secrets are taken out before anything else is done with it. */
  put(scope: MemoryScope, entry: NewEntry, runId?: string): Promise<MemoryChange>;
  /** Undefined when there is nothing to delete. */
  delete(scope: MemoryScope, id: string): Promise<MemoryChange | undefined>;
}

export interface MemoryNeeds {
  readonly store: Documents;
  readonly redact: (text: string) => string;
  readonly nowMs: () => number;
  readonly newId: (prefix: "mem") => string;
}

const LIST_DEFAULT = 100;
const LIST_MOST = 1000;
/** A memory that takes more of its room than this keeps nothing for older runs: what is forgotten makes room at once. */
const HISTORY_PART = 1 / 2;
const ID_MOST = 256;
const TAGS_MOST = 50;
const TAG_LENGTH = 256;

export function memoryAdapter(needs: MemoryNeeds, given: Partial<MemorySettings> = {}): MemoryAdapter {
  const { store, redact, nowMs, newId } = needs;
  const limits = { ...MEMORY_DEFAULTS, ...given };
  const readAt = (seenBy: SeenBy | undefined): ReadAt => ({ asOfMs: nowMs(), ...seenBy, nowMs: nowMs() });
  const current = (scope: MemoryScope, id: string) => store.readDocument(idOf(scope, id));

  return {
    async list(scope, options = {}, seenBy) {
      const at = readAt(seenBy);
      // A memory may be large: the agents of a tenant that begin together read theirs one after the other.
      return serializeFor(store, `memories of ${scope.tenant}`, async () => {
        let newest: MemoryEntry[] = [];
        for await (const document of eachDocument(store, scope.tenant, "memory", { prefix: prefixOf(scope) })) {
          const entry = visibleIn(document, at);
          if (entry !== undefined) newest.push(entry);
          if (newest.length >= 2 * mostOf(options)) newest = newestOf(newest, options);
        }
        return newestOf(newest, options);
      });
    },
    async get(scope, id, seenBy) {
      const document = isUsable(id) ? await current(scope, id) : undefined;
      return (document && visibleIn(document, readAt(seenBy))) ?? null;
    },
    async put(scope, { id, content, tags = [], expiresAt }, runId) {
      const memoryId = id ?? newId("mem");
      // Ids are looked up as they are, so secrets cannot be removed from them.
      if (id !== undefined && redact(id) !== id) refuse("id looks like a secret; take another one");
      const clean = redact(content);
      checkEntry({ id: memoryId, content: clean, expiresAt }, limits.maxEntrySizeBytes);
      const atMs = nowMs();
      const before = await current(scope, memoryId);
      const first = before && visibleIn(before, readAt(undefined));
      const entry: MemoryEntry = {
        id: memoryId,
        content: clean,
        tags: tags
          .filter((tag) => tag !== "")
          .slice(0, TAGS_MOST)
          .map((tag) => redact(tag).slice(0, TAG_LENGTH)),
        createdAt: first?.createdAt ?? new Date(atMs).toISOString(),
        ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
      };
      const next = { entry, ...defined({ runId }) };
      const size = await sizeOf(store, scope, limits);
      const keepsHistory = !isHalfFull(size, limits);
      const document = changed(idOf(scope, memoryId), before, next, { nowMs: atMs, keepsHistory });
      requireRoom(size, limits, before, document);
      return { memoryId, entry, write: put(document, scope) };
    },
    async delete(scope, id) {
      const before = isUsable(id) ? await current(scope, id) : undefined;
      if (before === undefined || visibleIn(before, readAt(undefined)) === undefined) return undefined;
      const documentId = idOf(scope, id);
      if (isHalfFull(await sizeOf(store, scope, limits), limits)) {
        return { memoryId: id, write: { type: "delete", id: documentId, revision: before.revision } };
      }
      const document = changed(documentId, before, undefined, { nowMs: nowMs(), keepsHistory: true });
      return { memoryId: id, write: put(document, scope) };
    },
  };
}

interface MemorySize {
  readonly entries: number;
  readonly bytes: number;
}

async function sizeOf(store: Documents, scope: MemoryScope, { maxEntries }: MemorySettings): Promise<MemorySize> {
  const query = { prefix: prefixOf(scope), limit: maxEntries + 1 };
  const sizes = await store.documentSizes(scope.tenant, "memory", query);
  return { entries: sizes.length, bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function isHalfFull({ entries, bytes }: MemorySize, { maxEntries, maxBytes }: MemorySettings): boolean {
  return entries > maxEntries * HISTORY_PART || bytes > maxBytes * HISTORY_PART;
}

/** Throws for an entry that does not fit any more. One that takes no more room than before always fits. */
function requireRoom(
  { entries, bytes }: MemorySize,
  { maxEntries, maxBytes }: MemorySettings,
  before: Document | undefined,
  after: Document,
): void {
  const more = Buffer.byteLength(after.body) - Buffer.byteLength(before?.body ?? "");
  const isOneTooMany = before === undefined && entries >= maxEntries;
  if (!isOneTooMany && (more <= 0 || bytes + more <= maxBytes)) return;
  refuse(`the memory is full with ${entries} entries of ${bytes} bytes; delete some first`);
}

function newestOf(entries: readonly MemoryEntry[], options: ListOptions): MemoryEntry[] {
  return selected(
    [...entries].sort((a, b) => byTime(b, a)),
    options,
  );
}

/** The entries of a list, in their order. */
export function selected(entries: readonly MemoryEntry[], options: ListOptions = {}): MemoryEntry[] {
  const { tag } = options;
  const wanted = tag === undefined ? entries : entries.filter(({ tags }) => tags.includes(tag));
  return wanted.slice(0, mostOf(options));
}

function mostOf({ limit = LIST_DEFAULT }: ListOptions): number {
  return limit === 0 ? LIST_MOST : Math.min(limit, LIST_MOST);
}

/** Throws `validation_error` for an entry that cannot be kept. */
export function checkEntry(
  { id, content, expiresAt }: { id: string; content: string; expiresAt: string | undefined },
  maxEntrySizeBytes = MEMORY_DEFAULTS.maxEntrySizeBytes,
): void {
  if (!isUsable(id)) refuse(`id must have 1 to ${ID_MOST} characters`);
  if (expiresAt !== undefined && Number.isNaN(Date.parse(expiresAt))) refuse("expiresAt must be a time");
  if (Buffer.byteLength(content) > maxEntrySizeBytes) refuse(`content must have at most ${maxEntrySizeBytes} bytes`);
}

function put(document: Document, { workspace }: MemoryScope): DocumentWrite {
  return { type: "put", document: workspace === undefined ? document : { ...document, workspace } };
}

function isUsable(id: string): boolean {
  return id.length > 0 && id.length <= ID_MOST;
}

function refuse(problem: string): never {
  throw validationError(`memory entry: ${problem}`);
}

/** Ids of one moment sort in the order they were made. */
function byTime(a: MemoryEntry, b: MemoryEntry): number {
  return a.createdAt === b.createdAt ? (a.id < b.id ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;
}

/** A secret that this process was given, by the name it is known by. */
export interface NamedSecret {
  readonly id: string;
  readonly value: string;
}

/** A shorter one would take the words out of innocent sentences. */
const SHORTEST = 4;

/**
 * Removes secrets from text to be remembered: named secrets leave `[REDACTED:<name>]` behind, which says which one was there;
 * other text that looks like a secret is masked.
 */
export function redactor(
  secrets: readonly NamedSecret[],
  scrubber: Pick<Scrubber, "scrubText">,
): (text: string) => string {
  // The longest first, so that no tail of it is left showing.
  const known = secrets.filter(({ value }) => value.length >= SHORTEST).sort((a, b) => b.value.length - a.value.length);
  return (text) => {
    const named = known.reduce((left, { id, value }) => left.split(value).join(`[REDACTED:${id}]`), text);
    return scrubber.scrubText(named);
  };
}
