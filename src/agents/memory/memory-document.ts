import { sha256 } from "../../formats/text/sha256.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import type { Document, DocumentId } from "../../store/port/documents.ts";

/** The boundary of memories: the reference alone, with another tenant or workspace, finds nothing. */
export interface MemoryScope {
  readonly tenant: string;
  readonly workspace?: string;
  /** Opaque: only its creator knows its meaning. */
  readonly memoryRef: string;
}

/** An entry as it was for a while. */
interface Version {
  readonly entry: MemoryEntry;
  readonly fromMs: number;
  readonly untilMs?: number;
  /** The run that wrote it, which does not see it. */
  readonly runId?: string;
}

export interface Remembered {
  readonly versions: readonly Version[];
}

/** The moment of a read, and the run that reads. */
export interface ReadAt {
  readonly asOfMs: number;
  readonly runId?: string;
  readonly nowMs: number;
}

/** How long replaced or forgotten entries stay visible to runs that began before. */
const HISTORY_MS = 30 * 86_400_000;

export function prefixOf({ workspace, memoryRef }: MemoryScope): string {
  const place = JSON.stringify([workspace ?? null, memoryRef]);
  return `${sha256(place)}/`;
}

export function idOf(scope: MemoryScope, entryId: string): DocumentId {
  return { tenant: scope.tenant, kind: "memory", key: `${prefixOf(scope)}${entryId}` };
}

/** The entry as it was then; nothing when it was not there, or is over by now. */
export function visibleIn({ body }: Document, { asOfMs, runId, nowMs }: ReadAt): MemoryEntry | undefined {
  const { versions } = JSON.parse(body) as Remembered;
  const version = versions.findLast(
    (one) => one.fromMs <= asOfMs && (one.untilMs === undefined || one.untilMs > asOfMs) && !isOwn(one, runId),
  );
  const entry = version?.entry;
  if (entry?.expiresAt !== undefined && Date.parse(entry.expiresAt) <= nowMs) return undefined;
  return entry;
}

function isOwn(version: Version, runId: string | undefined): boolean {
  return runId !== undefined && version.runId === runId;
}

/** Versions of an entry that are kept for older runs, the newest ones, and the characters of all of them. */
const VERSIONS_KEPT = 20;
const CHARACTERS_KEPT = 262_144;

/** The document with one more version, or with none that still holds; `keepsHistory`: earlier ones are kept for older runs. */
export function changed(
  id: DocumentId,
  current: Document | undefined,
  next: Omit<Version, "fromMs"> | undefined,
  { nowMs, keepsHistory }: { readonly nowMs: number; readonly keepsHistory: boolean },
): Document {
  const before = current === undefined || !keepsHistory ? [] : historyOf(current, nowMs);
  const after = next === undefined ? before : [...before, { ...next, fromMs: nowMs }];
  const expiresAt = next?.entry.expiresAt;
  const overMs = next === undefined ? nowMs + HISTORY_MS : expiresAt === undefined ? undefined : Date.parse(expiresAt);
  return {
    ...id,
    revision: (current?.revision ?? 0) + 1,
    atMs: nowMs,
    ...(overMs === undefined ? {} : { expiresAtMs: Math.max(overMs, nowMs) }),
    body: JSON.stringify({ versions: after } satisfies Remembered),
  };
}

function historyOf({ body }: Document, nowMs: number): Version[] {
  const { versions } = JSON.parse(body) as Remembered;
  const kept: Version[] = [];
  let left = CHARACTERS_KEPT;
  for (const one of versions.slice(-VERSIONS_KEPT).reverse()) {
    const untilMs = one.untilMs ?? nowMs;
    left -= one.entry.content.length;
    if (left < 0 || untilMs <= nowMs - HISTORY_MS) break;
    kept.unshift({ ...one, untilMs });
  }
  return kept;
}
