import type { Difference } from "./difference.ts";

/**
 * A difference as lines for a terminal or a report. The lines quote foreign text: callers make them safe before they print them.
 */
export function differenceLines(difference: Difference): string[] {
  const { summary } = difference;
  switch (difference.kind) {
    case "none":
      return [summary];
    case "lines":
      return [summary, ...difference.diff.replace(/\n$/, "").split("\n")];
    case "json":
      return [
        summary,
        ...difference.changes.map(({ path, change, before, after }) => {
          const where = path === "" ? "(the whole value)" : path;
          if (change === "added") return `${where}: not expected, got ${json(after)}`;
          if (change === "removed") return `${where}: expected ${json(before)}, got nothing`;
          return `${where}: expected ${json(before)}, got ${json(after)}`;
        }),
      ];
    case "words": {
      const { before, expected, output, after } = difference;
      if (before === "" && after === "")
        return [summary, `expected: ${quoted(expected)}`, `output:   ${quoted(output)}`];
      return [summary, `expected: ${before}[${expected}]${after}`, `output:   ${before}[${output}]${after}`];
    }
  }
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

function quoted(text: string): string {
  return text === "" ? "(empty)" : text;
}
