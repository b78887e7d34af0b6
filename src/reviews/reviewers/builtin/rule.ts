import type { Document } from "./document.ts";

/** What a document is read as. */
export const KINDS = ["prose", "markdown", "code", "data", "json"] as const;
export type Kind = (typeof KINDS)[number];

export const ASPECTS = ["completeness", "structure", "links", "error handling", "clarity", "consistency"] as const;
export type Aspect = (typeof ASPECTS)[number];

/** One thing that is looked for. Its id is part of the ids of remarks: it is never renamed, and never used for something else. */
export interface Rule {
  readonly id: string;
  readonly aspect: Aspect;
  readonly kinds: readonly Kind[];
  /** One sentence for the table in docs/reviews.md: what is found. */
  readonly finds: string;
  readonly recommendation: string;
  /** In the order of the document, in time that grows with its length and no faster. */
  find(document: Document): Iterable<Finding>;
}

export interface Finding {
  /**
   * What tells it from others of its rule: words of the document, a heading, a name, a path. No line numbers, which change with whatever
   * stands before.
   */
  readonly key: string;
  /** What it is about; when that changes, a remark that was rejected may be made again. */
  readonly part: string;
  readonly description: string;
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
