import type { Document, Line } from "./document.ts";

/** The kinds of document. */
export const KINDS = ["prose", "markdown", "code", "data", "json"] as const;
export type Kind = (typeof KINDS)[number];

export type Aspect = "completeness" | "structure" | "links" | "error handling" | "consistency";

/** One check. Its id is part of the ids of remarks: it is never renamed, and never reused. */
export interface Rule {
  readonly id: string;
  readonly aspect: Aspect;
  readonly kinds: readonly Kind[];
  /** The rule reads added lines one by one, so it also applies where the rest of the file is not known. */
  readonly readsLines: boolean;
  /** One sentence for the table in docs/reviews.md. */
  readonly finds: string;
  readonly recommendation: string;
  /** Findings in the order of the document, in linear time. */
  find(document: Document): Iterable<Finding>;
}

export interface Finding {
  /**
   * Words of the document, a heading or a name that distinguish the finding from others of its rule. No line numbers, which change
   * with every insertion before.
   */
  readonly key: string;
  /** The part it is about; when that changes, a rejected remark may be made again. */
  readonly part: string;
  readonly description: string;
}

/** The name of a line: `Line 7`, or `Line 7 of src/a.ts` in a diff. */
export function lineName({ number }: Pick<Line, "number">, { file }: Document): string {
  return file === undefined ? `Line ${number}` : `Line ${number} of ${file}`;
}

const QUOTED_CHARACTERS = 80;

/** Words of the document in a remark: on one line, and cut. */
export function quoted(text: string): string {
  const line = text
    .slice(0, 4 * QUOTED_CHARACTERS)
    .replace(/\s+/g, " ")
    .trim();
  return `“${line.length <= QUOTED_CHARACTERS ? line : `${line.slice(0, QUOTED_CHARACTERS - 1)}…`}”`;
}
