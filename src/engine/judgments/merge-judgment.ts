import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { scrubLine } from "../../formats/tapes/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { scrubSignal } from "./decide/annotate.ts";

type Scrub = (text: string) => string;

/** With every text in it made clean, by the rules of today. */
export function cleanRecord(record: AnnotationRecord, scrub: Scrub): AnnotationRecord {
  const { signal, note, retraction, flag, tapeRow } = record;
  return {
    ...record,
    signal: scrubSignal(signal, scrub),
    ...(note === undefined ? {} : { note: scrub(note) }),
    ...(tapeRow === undefined ? {} : { tapeRow: scrubLine(tapeRow, scrub) }),
    ...(retraction === undefined ? {} : { retraction: { ...retraction, reason: scrub(retraction.reason) } }),
    ...(flag?.status === "closed" ? { flag: { ...flag, note: scrub(flag.note) } } : {}),
  };
}

/**
 * What is here, brought up to what `incoming` knows of it; the very same object when that is nothing new. Undefined when
 * the two are not one judgment, or different things became of it. Nothing ever goes back: what is withdrawn stays so.
 */
export function merged(here: AnnotationRecord, incoming: AnnotationRecord, scrub: Scrub): AnnotationRecord | undefined {
  // What was stored by older rules may hold what today's take out; that makes no other judgment of it.
  const clean = said(here) === said(incoming) ? here : cleanRecord(here, scrub);
  if (said(clean) !== said(incoming)) return undefined;
  const ended = endingOf(clean, incoming);
  const flag = flagOf(clean, incoming);
  if (ended === undefined || flag === undefined) return undefined;
  return ended === clean && flag === clean ? here : { ...here, ...endOf(ended), ...flagPart(flag) };
}

/** All that never changes of a judgment. Who brought it, and with which line of a file, is not part of it. */
function said(record: AnnotationRecord): string {
  const { importedBy: _, tapeRow, state, supersededBy, supersededAtMs, retraction, flag, ...rest } = record;
  return canonicalJson(rest);
}

/** Which of the two knows how it ended; undefined when they disagree. */
function endingOf(here: AnnotationRecord, incoming: AnnotationRecord): AnnotationRecord | undefined {
  if (incoming.state === "live") return here;
  if (here.state === "live") return incoming;
  return endingText(here) === endingText(incoming) ? here : undefined;
}

/** When it was replaced is left out: a host that only knew what replaced it had to go by the time of that. */
function endingText({ state, supersededBy, retraction }: AnnotationRecord): string {
  return canonicalJson([state, supersededBy ?? null, retraction ?? null]);
}

function flagOf(here: AnnotationRecord, incoming: AnnotationRecord): AnnotationRecord | undefined {
  if (incoming.flag?.status !== "closed") return here;
  if (here.flag?.status !== "closed") return incoming;
  return canonicalJson(here.flag) === canonicalJson(incoming.flag) ? here : undefined;
}

function endOf({ state, supersededBy, supersededAtMs, retraction }: AnnotationRecord) {
  return defined({ state, supersededBy, supersededAtMs, retraction });
}

function flagPart({ flag }: AnnotationRecord): Pick<AnnotationRecord, "flag"> {
  return defined({ flag });
}
