import type { AnnotationRecord } from "../../store/port/judgments.ts";

/** A record without its texts, which figures do not need and which may be long. A correction stays one, of no text. */
export function withoutTexts({ note: _note, tapeRow: _row, signal, ...record }: AnnotationRecord): AnnotationRecord {
  const { correction: _, ...rest } = signal;
  return { ...record, signal: rest };
}
