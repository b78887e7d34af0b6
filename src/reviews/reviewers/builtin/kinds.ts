import type { Kind } from "./rule.ts";

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
