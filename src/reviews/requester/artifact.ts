import { createHash } from "node:crypto";
import { sortedJson } from "../../formats/json/sorted-json.ts";

/** Stands for a content: equal when it is, of the bytes of a text and of the sorted JSON of anything else. */
export function digestOf(content: unknown): string {
  const text = typeof content === "string" ? content : sortedJson(content);
  return `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
}

/** The content as lines, for comparison. */
export function linesOfContent(content: unknown): string {
  return typeof content === "string" ? content : `${sortedJson(content, "  ")}\n`;
}
