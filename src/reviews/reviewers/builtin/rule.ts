import type { Document, Line } from "./document.ts";

/** What a document is read as. */
export const KINDS = ["prose", "markdown", "code", "data", "json"] as const;
export type Kind = (typeof KINDS)[number];

export type Aspect = "completeness" | "structure" | "links" | "error handling" | "consistency";

/** One thing that is looked for. Its id is part of the ids of remarks: it is never renamed, and never used for something else. */
export interface Rule {
  readonly id: string;
  readonly aspect: Aspect;
  readonly kinds: readonly Kind[];
  /** The rule reads added lines one by one, so it also applies where the rest of the file is not known. */
  readonly readsLines: boolean;
  /** One sentence for the table in docs/reviews.md: what is found. */
  readonly finds: string;
  readonly recommendation: string;
  /** In the order of the document, in time that grows with its length and no faster. */
  find(document: Document): Iterable<Finding>;
}

export interface Finding {
  /**
   * Words of the document, a heading or a name that tell it from other findings of its rule. No line numbers, which change with
   * whatever is inserted before.
   */
  readonly key: string;
  /** What it is about; when that changes, a remark that was rejected may be made again. */
  readonly part: string;
  readonly description: string;
}

/** How people find a line: `Line 7`, or `Line 7 of src/a.ts` in a diff. */
export function lineName({ number }: Pick<Line, "number">, { file }: Document): string {
  return file === undefined ? `Line ${number}` : `Line ${number} of ${file}`;
}

const QUOTED_CHARACTERS = 80;

/** Words of the document as they stand in a remark: on one line, not too long. */
export function quoted(text: string): string {
  const line = text
    .slice(0, 4 * QUOTED_CHARACTERS)
    .replace(/\s+/g, " ")
    .trim();
  return `“${line.length <= QUOTED_CHARACTERS ? line : `${line.slice(0, QUOTED_CHARACTERS - 1)}…`}”`;
}
