import { type Codec, object, text, u64 } from "../json/codec.ts";
import { type Json, JsonObject, Unreadable } from "../json/exact-json.ts";

/** A body in the file itself. */
export interface InlinePayload {
  readonly content_hash: string;
  readonly text: string;
}
/** A body in a separate file, under the name of its hash. */
export interface StoredPayload {
  readonly content_hash: string;
  readonly len_bytes: bigint;
}
export type Payload = InlinePayload | StoredPayload;

/** Longer bodies are stored in separate files, and so are bodies that are not UTF-8. */
export const INLINE_BYTES_MAX = 4096;

const inline: Codec<InlinePayload> = object({ content_hash: text, text });
const stored: Codec<StoredPayload> = object({ content_hash: text, len_bytes: u64 });

export function isStored(value: Payload): value is StoredPayload {
  return "len_bytes" in value;
}

/** Distinguished by their members, the inline body first. */
export const payload: Codec<Payload> = {
  read(value) {
    for (const shape of hasText(value) ? [inline, stored] : [stored]) {
      try {
        return shape.read(value);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
      }
    }
    throw new Unreadable("neither `content_hash` with `text` nor `content_hash` with `len_bytes`");
  },
  print: (value) => (isStored(value) ? stored.print(value) : inline.print(value)),
};

/** Checked first: throwing an error that is then dropped costs more than reading the rest of the line. */
function hasText(value: Json): boolean {
  return value instanceof JsonObject && value.members.some(([name]) => name === "text");
}
