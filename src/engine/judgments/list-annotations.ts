import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { FlaggedItem, InboxQuery, InboxResponse } from "../../protocol/gates/inbox-api.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import { isoOf } from "../../protocol/instant.ts";
import type { AnnotationListQuery, AnnotationPage } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationPlace, AnnotationQuery, AnnotationRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import { searchWords } from "../../store/port/search-words.ts";
import type { Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { isAdmin } from "../identity/roles.ts";
import { DEFAULT_LIMIT, unknownCursor } from "../shared/page.ts";
import { wantedBy } from "./annotation-filter.ts";
import { annotationView } from "./annotation-view.ts";

/** Annotations that are read at once. */
const AT_ONCE = 100;
/** Characters of a page, at most: a correction may be long, and many may read such pages at the same time. */
const PAGE_CHARACTERS = 2_000_000;

/** A page of the judgments that the caller may see. Where they are long it is shorter than the limit, with a cursor. */
export async function listJudgments(host: Host, caller: Caller, query: AnnotationListQuery): Promise<AnnotationPage> {
  const { limit = DEFAULT_LIMIT, order = "newest", cursor, q, ...filter } = query;
  const after = cursor === undefined ? undefined : placeOf(cursor);
  const words = q === undefined ? undefined : wordsOf(q);
  const wanted = wantedBy(filter);
  if (wanted === undefined) return { annotations: [] };
  const asked = { ...wanted, order, ...defined({ words }), ...blindness(caller) };
  const { records, next } = await readPage(host, caller, asked, limit, after);
  return defined({ annotations: records.map(annotationView), nextCursor: next && cursorAt(next) });
}

/** Reviewers do not see judgments of others on items of a blind queue that they have not judged; admins do. */
export function blindness(caller: Caller): Pick<AnnotationQuery, "blindFor"> {
  return isAdmin(caller) ? {} : { blindFor: caller.principal };
}

/** Of one question: each is looked for in all texts that have the others. */
const WORDS_MAX = 32;

function wordsOf(q: string): readonly string[] {
  const words = searchWords(q);
  if (words.length > WORDS_MAX) {
    const problem = `query/q has ${words.length} words, and ${WORDS_MAX} are looked for at most; each Chinese, Japanese or Korean sign is one`;
    throw new AppError("validation_error", { problem });
  }
  if (words.length > 0) return words;
  throw validationError("query/q must hold a letter or a digit to look for");
}

interface Page {
  readonly records: readonly AnnotationRecord[];
  /** The last one, where there are more. */
  readonly next?: AnnotationPlace;
}

export async function readPage(
  { store }: Pick<Host, "store">,
  caller: Caller,
  asked: Omit<AnnotationQuery, "limit" | "after">,
  limit: number,
  from: AnnotationPlace | undefined,
): Promise<Page> {
  const records: AnnotationRecord[] = [];
  let characters = 0;
  for (let after = from; ; after = records.at(-1)) {
    const wish = Math.min(AT_ONCE, limit - records.length);
    const found = await store.listAnnotations(caller, { ...asked, limit: wish + 1, ...(after && { after }) });
    for (const record of found.slice(0, wish)) {
      if (records.length > 0 && characters > PAGE_CHARACTERS) break;
      records.push(record);
      characters += (record.note?.length ?? 0) + (record.signal.correction?.length ?? 0);
    }
    const last = records.at(-1);
    const isLast = isLastPage(found, wish + 1) && (found.at(-1) ?? last)?.annotationId === last?.annotationId;
    if (isLast || last === undefined) return { records };
    if (records.length >= limit || characters > PAGE_CHARACTERS) return { records, next: last };
  }
}

/** The cursor of the next page, an opaque text for clients. */
export function cursorAt({ createdAtMs, annotationId }: AnnotationPlace): string {
  return Buffer.from(`${createdAtMs} ${annotationId}`).toString("base64url");
}

const PLACE = /^(\d{1,15}) (.{1,300})$/su;

export function placeOf(cursor: string): AnnotationPlace {
  const text = Buffer.from(cursor, "base64url").toString();
  const [, ms, annotationId] = PLACE.exec(text) ?? [];
  // Only the exact text of a cursor is accepted: several texts decode to the same place.
  if (ms !== undefined && annotationId !== undefined) {
    const place = { createdAtMs: Number(ms), annotationId };
    if (cursorAt(place) === cursor) return place;
  }
  throw unknownCursor();
}

export async function visibleAnnotation(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  annotationId: string,
): Promise<AnnotationRecord> {
  const found = await store.readAnnotation(visible, annotationId);
  if (found === undefined) throw new AppError("not_found", { what: "annotation", annotationId });
  return found;
}

/** An annotation that lists show to the caller: blind queues hide the same ones here. */
export async function shownAnnotation(host: Host, caller: Caller, annotationId: string): Promise<AnnotationRecord> {
  const found = await visibleAnnotation(host, caller, annotationId);
  if (await isListedFor(host.store, caller, found)) return found;
  throw new AppError("not_found", { what: "annotation", annotationId });
}

export async function isListedFor(
  store: Pick<Store, "listAnnotations">,
  caller: Caller,
  { annotationId, queueItemId }: AnnotationRecord,
): Promise<boolean> {
  const blind = blindness(caller);
  if (queueItemId === undefined || blind.blindFor === undefined) return true;
  const listed = await store.listAnnotations(caller, { annotationId, order: "oldest", limit: 1, ...blind });
  return listed.length > 0;
}

/** The open flags that the caller may see, oldest first, for an inbox. */
export async function readFlagged(
  host: Host,
  caller: Caller,
  { workflowId, runId, limit = DEFAULT_LIMIT, flaggedCursor }: Omit<InboxQuery, "flagged">,
): Promise<Pick<InboxResponse, "flagged" | "nextFlaggedCursor">> {
  if (!host.capabilities.has("feedback")) throw new AppError("capability_not_provided", { capability: "feedback" });
  const after = flaggedCursor === undefined ? undefined : placeOf(flaggedCursor);
  const open = { order: "oldest", flag: "open", kind: "flag" } as const;
  const asked = { ...open, ...defined({ workflowId, runId }), ...blindness(caller) };
  const { records, next } = await readPage(host, caller, asked, limit, after);
  return defined({ flagged: records.map(flaggedItem), nextFlaggedCursor: next && cursorAt(next) });
}

function flaggedItem({ annotationId, runId, workflowId, aboutNode, ...record }: AnnotationRecord): FlaggedItem {
  const { actor, actorKind, note } = record;
  const createdAt = isoOf(record.createdAtMs);
  return defined({ annotationId, runId, workflowId, nodeId: aboutNode, actor, actorKind, note, createdAt });
}
