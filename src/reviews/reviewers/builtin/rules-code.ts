import type { Document } from "./document.ts";
import { functionName } from "./document.ts";
import { codeOf, languageOf } from "./languages.ts";
import { type Finding, quoted, type Rule } from "./rule.ts";
import { firstMatch } from "./rules-marks.ts";

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
  finds: "What was put in to look at something: `console.log`, `debugger`, `set_trace`, `dbg!`, `test.only`.",
  recommendation: "Take it out, or use the program's own log.",
  *find(document) {
    const language = languageOf(document);
    for (const line of document.lines) {
      const found = firstMatch(codeOf(line.text, language), DEBUGGING);
      if (found === undefined) continue;
      yield {
        key: `${line.place} ${line.text.trim()}`,
        part: line.text,
        description: `Line ${line.number} looks like left over from debugging: ${quoted(line.text)}.`,
      };
    }
  },
};

const SILENCED =
  /@ts-(?:ignore|nocheck)\s*$|eslint-disable(?:-next-line|-line)?(?!.*--\s*\S)|#\s*noqa\s*$|#\s*type:\s*ignore\s*$|pylint:\s*disable=|@SuppressWarnings\b|nolint\s*$/;

const silencedCheck: Rule = {
  id: "silenced-check",
  aspect: "clarity",
  kinds: ["code"],
  finds: "Checks that are switched off without a reason: `@ts-ignore`, `eslint-disable`, `noqa`, `type: ignore`.",
  recommendation: "Fix what the check finds, or say beside it why it is wrong here.",
  *find({ lines }) {
    for (const [i, line] of lines.entries()) {
      const found = SILENCED.exec(line.text)?.[0];
      if (found === undefined) continue;
      const next = lines[i + 1]?.text.trim() ?? "";
      yield {
        key: `${line.place} ${line.text.trim()} ${next}`,
        part: `${line.text}\n${next}`,
        description: `Line ${line.number} switches a check off and does not say why: ${quoted(line.text)}.`,
      };
    }
  },
};

const LINE_CHARACTERS = 160;

const longLine: Rule = {
  id: "long-line",
  aspect: "clarity",
  kinds: ["code"],
  finds: `Lines of more than ${LINE_CHARACTERS} characters, addresses left out.`,
  recommendation: "Break it where its parts meet.",
  *find({ lines }) {
    for (const line of lines) {
      if (line.text.length <= LINE_CHARACTERS || /https?:\/\/\S{60}/.test(line.text)) continue;
      yield {
        key: line.text.trim().slice(0, 200),
        part: line.text,
        description: `Line ${line.number} has ${line.text.length} characters: ${quoted(line.text)}.`,
      };
    }
  },
};

const FUNCTION_LINES = 80;

const longFunction: Rule = {
  id: "long-function",
  aspect: "structure",
  kinds: ["code"],
  finds: `Functions of more than ${FUNCTION_LINES} lines.`,
  recommendation: "Give its steps names of their own.",
  *find(document) {
    const { lines } = document;
    for (const { name, from, to } of functionsOf(document)) {
      if (to - from + 1 <= FUNCTION_LINES) continue;
      yield {
        key: name,
        part: lines
          .slice(from - 1, to)
          .map(({ text }) => text)
          .join("\n"),
        description: `The function ${name} at line ${from} is ${to - from + 1} lines long.`,
      };
    }
  },
};

interface FunctionRange {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

function functionsOf(document: Document): FunctionRange[] {
  return languageOf(document) === "python" ? byIndentation(document) : byBraces(document);
}

/** A function ends with the first line that is not indented more than its head. */
function byIndentation({ lines }: Document): FunctionRange[] {
  const found: FunctionRange[] = [];
  const open: { readonly name: string; readonly from: number; readonly indent: number; to: number }[] = [];
  for (const { text, number } of lines) {
    if (text.trim() === "") continue;
    const indent = text.length - text.trimStart().length;
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= indent) {
      const done = open.pop();
      if (done) found.push(done);
    }
    for (const one of open) one.to = number;
    const name = /^\s*(?:async\s+)?def\s+(\w+)/.exec(text)?.[1];
    if (name !== undefined && open.length < NESTED_MAX) open.push({ name, from: number, indent, to: number });
  }
  return [...found, ...open].sort((a, b) => a.from - b.from);
}

/** Deeper than this nobody nests; it keeps the work in proportion to the length. */
const NESTED_MAX = 64;

/** A function ends where the brace closes that its head opens. */
function byBraces(document: Document): FunctionRange[] {
  const language = languageOf(document);
  const found: FunctionRange[] = [];
  const open: { readonly name: string; readonly from: number; readonly depth: number }[] = [];
  let depth = 0;
  let head: { readonly name: string; readonly from: number } | undefined;
  for (const { text, number } of document.lines) {
    const name = functionName(text);
    if (name !== undefined) head = { name, from: number };
    for (const char of codeOf(text, language)) {
      if (char === "{") {
        depth++;
        if (head !== undefined) open.push({ ...head, depth });
        head = undefined;
      } else if (char === "}") {
        if (open.at(-1)?.depth === depth) {
          const { name: closed = "", from = number } = open.pop() ?? {};
          found.push({ name: closed, from, to: number });
        }
        depth = Math.max(0, depth - 1);
      } else if (char === ";") head = undefined;
    }
  }
  return found.sort((a, b) => a.from - b.from);
}

const everyRow: Rule = {
  id: "every-row",
  aspect: "error handling",
  kinds: ["code"],
  finds: "SQL that deletes or updates every row of a table: no `where`.",
  recommendation: "Say which rows are meant; write `where true` if it is all of them.",
  *find(document): Iterable<Finding> {
    if (languageOf(document) !== "sql") return;
    const text = document.lines.map((line) => codeOf(line.text, "sql")).join("\n");
    for (const statement of text.split(";")) {
      const found = /^\s*(?:delete\s+from\s+[\w."`[\]]+|update\s+[\w."`[\]]+\s+set\b)/i.exec(statement)?.[0];
      if (found === undefined || /\bwhere\b/i.test(statement)) continue;
      yield {
        key: statement.trim().replace(/\s+/g, " ").slice(0, 200),
        part: statement,
        description: `${quoted(statement)} changes every row of its table.`,
      };
    }
  },
};

export const CODE_RULES: readonly Rule[] = [leftoverDebugging, silencedCheck, longLine, longFunction, everyRow];
