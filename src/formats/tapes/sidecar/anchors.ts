import { anyMap, type Decoded, object, optional, printMembers, text, u64, word } from "../../json/codec.ts";
import { AUTHOR_KINDS, type Row } from "./sidecar.ts";

const ANCHOR = {
  event_id: u64,
  end_event_id: u64,
  evidence: optional(text),
  author: optional(object({ id: optional(text), kind: word(...AUTHOR_KINDS), surface: optional(text) })),
  metadata: anyMap,
};
const anchor = object(ANCHOR);
/** A stretch of a tape that a row proposes as a fixed workflow. */
export type Anchor = Decoded<typeof anchor>;

/** Undefined for rows of other kinds. The span is taken as it is, also a bad one. */
export function anchorOf({ kind, event_id, span, evidence, author, metadata }: Row): Anchor | undefined {
  if (kind !== "crystallize_here") return undefined;
  return { event_id, end_event_id: span?.end_event_id ?? event_id, evidence, author, metadata };
}

/** As JSON; `file` is present when there are several. */
export function printAnchor(value: Anchor, file?: string): string {
  const where = file === undefined ? "" : `"file":${text.print(file)},`;
  return `{${where}${printMembers(value, ANCHOR)}}`;
}
