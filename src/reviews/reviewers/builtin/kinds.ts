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
]);

/** What is looked at unless a host says otherwise. */
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
