import type { Document, Line } from "./document.ts";

const KINDS = ["prose", "markdown", "code", "data", "json"] as const;
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

const APPLICATION: ReadonlySet<string> = new Set([
  "json",
  "yaml",
  "x-yaml",
  "toml",
  "xml",
  "javascript",
  "ecmascript",
  "typescript",
  "sql",
  "graphql",
  "x-sh",
  "x-ndjson",
  "x-diff",
  "x-patch",
]);

/** The media types accepted by default. */
export function isReviewedType(mediaType: string): boolean {
  const [type = "", subtype = ""] = mediaType.split("/");
  if (type === "text") return true;
  return (type === "application" && APPLICATION.has(subtype)) || /\+(json|xml|yaml)$/.test(subtype);
}

const CODE =
  /javascript|ecmascript|typescript|jsx|tsx|python|java|ruby|perl|php|rust|golang|x-go|kotlin|swift|scala|csharp|x-c|c\+\+|shell|x-sh|bash|sql|graphql|x-lua|x-r$|css|haskell|clojure|elixir|erlang|vue|svelte|x-script|x-source/;
const DATA = /yaml|toml|ini|properties|csv|ndjson|jsonl|xml|html/;

export function kindOf(mediaType: string): Kind {
  const subtype = mediaType.split("/")[1] ?? "";
  if (subtype === "json" || subtype.endsWith("+json")) return "json";
  if (/^(x-)?(web-)?markdown$|^vnd\.daringfireball\.markdown$/.test(subtype)) return "markdown";
  if (DATA.test(subtype)) return "data";
  return CODE.test(subtype) ? "code" : "prose";
}

/**
 * The start of a diff in a plain text: at its beginning, or after the lines that version control systems and mails write before
 * one.
 */
const HEADERS = /^--- [^\r\n]+\r?\n\+\+\+ [^\r\n]+\r?\n@@ -\d/m;
const BEGINNINGS = /^\s{0,9}(?:diff |Index: |--- |From [0-9a-f]{7,64} |commit [0-9a-f]{7,64})/;

/** Recognizes a diff by its type, and in a plain text by its beginning: tools send diffs as either. */
export function isDiff(mediaType: string, text: string): boolean {
  if (/^(?:text|application)\/(?:x-)?(?:diff|patch)$/.test(mediaType)) return true;
  return mediaType === "text/plain" && BEGINNINGS.test(text) && HEADERS.test(text.slice(0, 50_000));
}
