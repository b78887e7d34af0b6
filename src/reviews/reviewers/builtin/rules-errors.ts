import type { Line } from "./document.ts";
import { codeOf, languageOf } from "./languages.ts";
import { type Finding, quoted, type Rule } from "./rule.ts";

const RECOMMENDATION = "Handle it, pass it on, or say in a comment why nothing needs to be done.";

const emptyCatch: Rule = {
  id: "empty-catch",
  aspect: "error handling",
  kinds: ["code"],
  finds: "Handlers that do nothing: `catch {}`, `except …: pass`, `rescue` without a body.",
  recommendation: RECOMMENDATION,
  *find({ lines }) {
    for (const [i, line] of lines.entries()) {
      if (!/\b(?:catch|except)\b/.test(line.text)) continue;
      const next = lines.slice(i + 1, i + 4).find(({ text }) => text.trim() !== "")?.text ?? "";
      const isEmptyBlock = /\bcatch\b\s*(?:\([^()]{0,200}\))?\s*\{\s*\}/.test(line.text);
      const opensEmptyBlock = /\bcatch\b\s*(?:\([^()]{0,200}\))?\s*\{\s*$/.test(line.text) && /^\s*\}/.test(next);
      const onlyPasses = /^\s*except\b[^:]{0,200}:\s*(?:pass|\.\.\.)?\s*$/.test(line.text);
      const passes = onlyPasses && (/:\s*(?:pass|\.\.\.)\s*$/.test(line.text) || /^\s*(?:pass|\.\.\.)\s*$/.test(next));
      if (!isEmptyBlock && !opensEmptyBlock && !passes) continue;
      yield handler(line, lines[i - 1], "An error is caught and dropped");
    }
  },
};

const bareExcept: Rule = {
  id: "bare-except",
  aspect: "error handling",
  kinds: ["code"],
  finds: "Handlers in Python that catch everything, also interrupts: `except:` and `except BaseException:`.",
  recommendation: "Name the errors that are expected here.",
  *find({ lines }) {
    for (const [i, line] of lines.entries()) {
      if (!/^\s*except\s*(?:\(?\s*BaseException\b[^:]{0,100})?:/.test(line.text)) continue;
      yield handler(line, lines[i - 1], "Everything is caught, also what nobody expects");
    }
  },
};

/** Handlers look alike, so what they guard tells them apart. */
function handler(line: Line, before: Line | undefined, what: string): Finding {
  const guarded = before?.text.trim() ?? "";
  return {
    key: `${line.place} ${guarded} ${line.text.trim()}`,
    part: `${guarded}\n${line.text}`,
    description: `${what} at line ${line.number}${line.place === "" ? "" : ` in ${line.place}`}: ${quoted(line.text)}.`,
  };
}

const STATEMENT = /^\s*(?:[\w$]+(?:\?*\.[\w$]+)*)\s*\(/;

const ignoredPromise: Rule = {
  id: "ignored-promise",
  aspect: "error handling",
  kinds: ["code"],
  finds: "Promises that nobody waits for: `forEach(async …)`, and `….then(…)` as a statement without `catch`.",
  recommendation: "Wait for it with await, return it, or add a catch.",
  *find(document) {
    if (languageOf(document) !== "script") return;
    const { lines } = document;
    for (const [i, line] of lines.entries()) {
      const code = codeOf(line.text, "script");
      const isLoop = /\.forEach\(\s*async\b/.test(code);
      if (!isLoop && !(/\.then\s*\(/.test(code) && isLooseChain(lines, i))) continue;
      yield {
        key: `${line.place} ${line.text.trim()}`,
        part: line.text,
        description: `Nobody waits for the promise at line ${line.number}, so its failure is lost: ${quoted(line.text)}.`,
      };
    }
  },
};

const CHAIN_LINES = 40;

/** Whether the statement that this line of a chain belongs to begins with a call and has no handler. */
function isLooseChain(lines: readonly Line[], at: number): boolean {
  let start = at;
  while (start > 0 && at - start < 5 && /^\s*\./.test(lines[start]?.text ?? "")) start--;
  const first = codeOf(lines[start]?.text ?? "", "script");
  if (!STATEMENT.test(first) && !/^\s*[\w$.]+\s*$/.test(first)) return false;
  if (/^\s*(?:return|await|void|yield|throw)\b|=>|[^=!<>]=[^=]/.test(first.split(".then")[0] ?? "")) return false;
  let depth = 0;
  for (const { text } of lines.slice(start, start + CHAIN_LINES)) {
    const code = codeOf(text, "script");
    if (/\.catch\s*\(/.test(code) || /\.then\s*\([^,]{1,300},\s*[\w$]+\s*\)/.test(code)) return false;
    for (const char of code) depth += char === "(" || char === "{" ? 1 : char === ")" || char === "}" ? -1 : 0;
    if (depth <= 0 && /;\s*$/.test(code)) return true;
    if (depth < 0) return true;
  }
  return true;
}

const shellWithoutErrexit: Rule = {
  id: "shell-goes-on",
  aspect: "error handling",
  kinds: ["code"],
  finds: "Shell scripts of several commands that go on after one of them has failed (no `set -e`).",
  recommendation: "Begin with `set -euo pipefail`, or check each command.",
  *find(document) {
    if (languageOf(document) !== "shell") return;
    const { lines } = document;
    const commands = lines.filter(({ text }) => /^\s*[^\s#]/.test(text));
    const isChecked = commands.some(({ text }) => /\bset\s+-[a-z]*e|\berrexit\b|\|\|\s*\w|^#!.*\s-[a-z]*e/.test(text));
    const first = commands[0];
    if (isChecked || commands.length < 3 || lines[0]?.text.match(/^#!.*\s-[a-z]*e/) || first === undefined) return;
    yield {
      key: "whole script",
      part: commands.map(({ text }) => text).join("\n"),
      description: `The script has ${commands.length} commands and goes on after one that fails.`,
    };
  },
};

export const ERROR_RULES: readonly Rule[] = [emptyCatch, bareExcept, ignoredPromise, shellWithoutErrexit];
