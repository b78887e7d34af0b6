import { JsonObject, readJson } from "../../json/exact-json.ts";
import { printString } from "../../json/print-json.ts";
import { trimSpace } from "../../text/trim.ts";
import { type AUTHOR_KINDS, printRow, type Row } from "./sidecar.ts";

export interface NamedAuthor {
  readonly id: string;
  readonly kind: (typeof AUTHOR_KINDS)[number];
}

/** The author that a row names, or the one who pushes it. */
export function authorNameOf({ author }: Pick<Row, "author">, pusher: string): string {
  return author?.id || pusher;
}

/** The line of a row with its author named. A line without an author stays as it was written; any other is printed anew. */
export function nameAuthor(line: string, row: Row, author: NamedAuthor): string {
  const json = readJson(trimSpace(line));
  const isNamed = json instanceof JsonObject && json.members.some(([name]) => name === "author");
  const surface = row.author?.surface ?? null;
  if (isNamed) return printRow({ ...row, author: { ...author, surface } });
  const end = line.lastIndexOf("}");
  const named = `,"author":{"id":${printString(author.id)},"kind":"${author.kind}"}`;
  return line.slice(0, end) + named + line.slice(end);
}
