import { printString } from "../../json/print-json.ts";
import type { Problem } from "../sidecar/problem.ts";
import type { Verdict } from "./validate.ts";

/** The report as it is compared byte for byte, in pieces, without a line feed at the end. */
export function* printReport({ checked, findings, kindCounts }: Verdict): Generator<string> {
  yield `{\n  "annotations_checked": ${checked},\n  "problems": [`;
  let before = "\n";
  for (const { problem } of findings) {
    yield `${before}    {\n${members(problem).join(",\n")}\n    }`;
    before = ",\n";
  }
  yield findings.length === 0 ? "],\n" : "\n  ],\n";
  const counts = [...kindCounts].map(([kind, count]) => `    ${printString(kind)}: ${count}`);
  yield `  "kind_counts": ${counts.length === 0 ? "{}" : `{\n${counts.join(",\n")}\n  }`}\n}`;
}

function members(problem: Problem): string[] {
  const entries = Object.entries(problem) as [string, string | bigint][];
  return entries.map(([name, value]) => `      "${name}": ${typeof value === "string" ? printString(value) : value}`);
}
