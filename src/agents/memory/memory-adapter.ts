import { allDocuments } from "../../engine/shared/all-documents.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { Document, Documents, DocumentWrite } from "../../store/port/documents.ts";
import { changed, idOf, type MemoryScope, prefixOf, type ReadAt, visibleIn } from "./memory-document.ts";

export interface MemorySettings {
  readonly maxEntrySizeBytes: number;
}

export const MEMORY_DEFAULTS: MemorySettings = { maxEntrySizeBytes: 65_536 };

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
const ID_MOST = 256;
const TAGS_MOST = 50;
const TAG_LENGTH = 256;

export function memoryAdapter(needs: MemoryNeeds, { maxEntrySizeBytes } = MEMORY_DEFAULTS): MemoryAdapter {
  const { store, redact, nowMs, newId } = needs;
  const readAt = (seenBy: SeenBy | undefined): ReadAt => ({ asOfMs: nowMs(), ...seenBy, nowMs: nowMs() });
  const current = (scope: MemoryScope, id: string) => store.readDocument(idOf(scope, id));

  return {
    async list(scope, { limit = LIST_DEFAULT, tag } = {}, seenBy) {
      const at = readAt(seenBy);
      const prefix = prefixOf(scope);
      const read = (document: Document) => visibleIn(document, at);
      const entries = await allDocuments(store, scope.tenant, "memory", { prefix }, read);
      const newest = entries.filter((entry) => entry !== undefined).sort((a, b) => byTime(b, a));
      return selected(newest, { limit, ...defined({ tag }) });
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
      checkEntry({ id: memoryId, content: clean, expiresAt }, maxEntrySizeBytes);
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
      return { memoryId, entry, write: put(changed(idOf(scope, memoryId), before, next, atMs), scope) };
    },
    async delete(scope, id) {
      const before = isUsable(id) ? await current(scope, id) : undefined;
      if (before === undefined || visibleIn(before, readAt(undefined)) === undefined) return undefined;
      return { memoryId: id, write: put(changed(idOf(scope, id), before, undefined, nowMs()), scope) };
    },
  };
}

/** The entries of a list, in their order. */
export function selected(
  entries: readonly MemoryEntry[],
  { limit = LIST_DEFAULT, tag }: ListOptions = {},
): MemoryEntry[] {
  const wanted = tag === undefined ? entries : entries.filter(({ tags }) => tags.includes(tag));
  return wanted.slice(0, limit === 0 ? LIST_MOST : Math.min(limit, LIST_MOST));
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
