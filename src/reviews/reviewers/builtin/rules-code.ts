import type { Line } from "./document.ts";
import { lineName, quoted, type Rule } from "./rule.ts";
import { firstMatch } from "./rules-text.ts";

const DEBUGGING = [
  /\bconsole\.(?:log|debug|dir|trace)\s*\(/,
  /^\s*debugger\b/,
  /\b(?:pdb|ipdb)\.set_trace\s*\(|^\s*breakpoint\s*\(\s*\)|^\s*import\s+i?pdb\b/,
  /\b(?:var_dump|print_r|dd)\s*\(/,
  /\bdbg!\s*\(/,
  /\bbinding\.pry\b/,
  /\bSystem\.out\.print(?:ln)?\s*\(/,
  /\b(?:describe|it|test)\.only\s*\(|^\s*f(?:describe|it)\s*\(/,
];

const leftoverDebugging: Rule = {
  id: "leftover-debugging",
  aspect: "completeness",
  kinds: ["code"],
  readsLines: true,
  finds: "What was put in to look at something: `console.log`, `debugger`, `set_trace`, `dbg!`, `test.only`.",
  recommendation: "Take it out, or use the program's own log.",
  *find(document) {
    for (const line of document.lines) {
      const found = line.isNew ? firstMatch(codeOf(line.text), DEBUGGING) : undefined;
      if (found === undefined) continue;
      yield {
        key: `${line.place} ${line.text.trim()}`,
        part: line.text,
        description: `${lineName(line, document)} looks like left over from debugging: ${quoted(line.text)}.`,
      };
    }
  },
};

/**
 * Quoted texts. A character after a backslash opens none: otherwise each of many escaped quotes would be searched to the end of
 * the line.
 */
const QUOTED = /\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

/** A line without its quoted texts and its comment, as far as they can be recognized in the line alone. */
export function codeOf(line: string): string {
  const bare = line.replace(QUOTED, (found) => (found.startsWith("\\") ? found : '""'));
  return bare.replace(/(^|\s)(?:\/\/|\/\*|\*\s|#|--\s).*$/, "$1");
}

const emptyCatch: Rule = {
  id: "empty-catch",
  aspect: "error handling",
  kinds: ["code"],
  readsLines: true,
  finds: "Handlers that do nothing: `catch {}`, `except …: pass`.",
  recommendation: "Handle it, pass it on, or say in a comment why nothing needs to be done.",
  *find(document) {
    const { lines } = document;
    for (const [i, line] of lines.entries()) {
      if (!line.isNew || !isDropped(line.text, nextText(lines, i))) continue;
      // Handlers are alike, so the guarded line distinguishes them.
      const guarded = lines[i - 1]?.text.trim() ?? "";
      yield {
        key: `${line.place} ${guarded} ${line.text.trim()}`,
        part: `${guarded}\n${line.text}`,
        description: `${lineName(line, document)} catches an error and drops it: ${quoted(line.text)}.`,
      };
    }
  },
};

function isDropped(text: string, next: string): boolean {
  if (!/\b(?:catch|except)\b/.test(text)) return false;
  const body = /\bcatch\b\s*(?:\([^()]{0,200}\))?\s*\{\s*(\}?)/.exec(text);
  if (body !== null) {
    return body[1] === "}" || (text.length === body.index + body[0].length && /^\s*\}/.test(next));
  }
  const suite = /^\s*except\b[^:]{0,200}:\s*(.*)$/.exec(text)?.[1];
  return suite !== undefined && /^\s*(?:pass|\.\.\.)\s*$/.test(suite === "" ? next : suite);
}

/** The next line with words, among the three after it; a gap in a diff hides it. */
function nextText(lines: readonly Line[], at: number): string {
  const number = lines[at]?.number ?? 0;
  const next = lines.slice(at + 1, at + 4).find(({ text }) => text.trim() !== "");
  return next !== undefined && next.number <= number + 3 ? next.text : "";
}

export const CODE_RULES: readonly Rule[] = [leftoverDebugging, emptyCatch];
