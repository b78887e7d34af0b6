import type { Document } from "./document.ts";

export type Language = "script" | "python" | "shell" | "sql" | "other";

/** Only as far as rules differ: `script` is what is written for JavaScript engines. */
export function languageOf({ mediaType, lines }: Document): Language {
  if (/javascript|ecmascript|typescript|jsx|tsx|vue|svelte/.test(mediaType)) return "script";
  if (mediaType.includes("python")) return "python";
  if (/shell|x-sh|bash/.test(mediaType)) return "shell";
  if (mediaType.includes("sql")) return "sql";
  return /^#!.*\bpython/.test(lines[0]?.text ?? "") ? "python" : "other";
}

/**
 * Texts in quotes. What follows a backslash opens none: otherwise each of many escaped quotes would be looked at to the end of the line.
 */
const QUOTED = /\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

/** A line without what stands in quotes or comments, each of them cut to nothing, so that words in them are not taken for code. */
export function codeOf(line: string, language: Language): string {
  const bare = line.replace(QUOTED, (found) => (found.startsWith("\\") ? found : '""'));
  if (language === "sql") return bare.replace(/--.*$/, "");
  if (language === "python" || language === "shell") return bare.replace(/(^|\s)#.*$/, "$1");
  const code = bare.replace(/\/\/.*$/, "");
  // Past the last end of a comment there is none, and looking for one from every beginning would take long.
  const end = code.lastIndexOf("*/") + 2;
  return end === 1 ? code : code.slice(0, end).replace(/\/\*.*?\*\//g, "") + code.slice(end);
}
