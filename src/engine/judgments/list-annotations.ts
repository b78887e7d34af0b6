import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AnnotationListQuery, AnnotationPage } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationPlace, AnnotationQuery, AnnotationRecord } from "../../store/port/judgments.ts";
import { searchWords } from "../../store/port/search-words.ts";
import type { Host } from "../host.ts";
import { isAdmin } from "../identity/is-admin.ts";
import { cursorAt, placeOf } from "./annotation-cursor.ts";
import { wantedBy } from "./annotation-filter.ts";
import { annotationView } from "./annotation-view.ts";

export const DEFAULT_LIMIT = 50;

/** So many are read at once, and so many characters of them make a page: a correction may be as long as a book. */
const AT_ONCE = 100;
const PAGE_CHARACTERS = 8_000_000;

/** A page of the judgments that the caller may see, shorter than asked for where they are long; then it has a cursor. */
export async function listJudgments(host: Host, caller: Caller, query: AnnotationListQuery): Promise<AnnotationPage> {
  const { limit = DEFAULT_LIMIT, order = "newest", cursor, q, ...filter } = query;
  const after = cursor === undefined ? undefined : placeOf(cursor);
  const words = q === undefined ? undefined : wordsOf(q);
  const wanted = wantedBy(filter);
  if (wanted === undefined) return { annotations: [] };
  const asked = { ...wanted, order, ...defined({ words }), ...blindness(caller) };
  const { records, next } = await readPage(host, caller, asked, limit, after);
  return {
    annotations: records.map(annotationView),
    ...(next === undefined ? {} : { nextCursor: cursorAt(next) }),
  };
}

/** Whoever has yet to judge an item of a blind queue is not told what others said; those who look after queues are. */
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
  throw new AppError("validation_error", { problem: "query/q must hold a letter or a digit to look for" });
}

interface Page {
  readonly records: readonly AnnotationRecord[];
  /** The last one, when there are more. */
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
    const isLast = found.length <= wish && (found.at(-1) ?? last)?.annotationId === last?.annotationId;
    if (isLast || last === undefined) return { records };
    if (records.length >= limit || characters > PAGE_CHARACTERS) return { records, next: last };
  }
}
