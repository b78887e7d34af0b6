import { AppError } from "../../protocol/errors.ts";
import type { AnnotationPlace } from "../../store/port/judgments.ts";

/** Where the next page begins, as a text that clients only hand back. */
export function cursorAt({ createdAtMs, annotationId }: AnnotationPlace): string {
  return Buffer.from(`${createdAtMs} ${annotationId}`).toString("base64url");
}

const PLACE = /^(\d{1,15}) (.{1,300})$/su;

export function placeOf(cursor: string): AnnotationPlace {
  const text = Buffer.from(cursor, "base64url").toString();
  const [, ms, annotationId] = PLACE.exec(text) ?? [];
  // What decodes to the same is not the same: only what was given out is taken back.
  if (ms !== undefined && annotationId !== undefined) {
    const place = { createdAtMs: Number(ms), annotationId };
    if (cursorAt(place) === cursor) return place;
  }
  throw new AppError("validation_error", { problem: "cursor is not one this host gave out" });
}
