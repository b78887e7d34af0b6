import { deepEqual } from "../../engine/schemas/decide/deep-equal.ts";
import { placesIn } from "../../formats/json/json-places.ts";
import type { AgentEvalSuite, EvalTask } from "../../protocol/evals/eval-suite.ts";

/**
 * The text of a suite that has grown: the author's own, with another version and more tasks at the end, so that a comparison of the two
 * shows no more than that. Where that cannot be done, the whole suite written anew.
 */
export function grownText(text: string, suite: AgentEvalSuite, added: readonly EvalTask[]): string {
  const edited = edit(text, suite, added);
  return edited !== undefined && says(edited, suite) ? edited : `${JSON.stringify(suite, null, 2)}\n`;
}

function edit(text: string, { version, tasks }: AgentEvalSuite, added: readonly EvalTask[]): string | undefined {
  const last = `/tasks/${tasks.length - added.length - 1}`;
  const places = placesIn(text, ["/version", last]);
  const starts = [places.get("/version"), places.get(last)].map((place) => place && offsetOf(text, place));
  const [versionAt, lastAt] = starts;
  if (versionAt === undefined || lastAt === undefined || versionAt === lastAt) return undefined;
  const end = endOfObject(text, lastAt);
  if (end === undefined) return undefined;
  const indent = /[ \t]*$/.exec(text.slice(0, lastAt))?.[0] ?? "";
  const inserted = added
    .map((task) => `,\n${indent}${JSON.stringify(task, null, 2).replaceAll("\n", `\n${indent}`)}`)
    .join("");
  const grown = `${text.slice(0, end)}${inserted}${text.slice(end)}`;
  const member = /"version"\s*:\s*"[^"\\]*"/y;
  const at = versionAt < lastAt ? versionAt : versionAt + inserted.length;
  member.lastIndex = at;
  const found = member.exec(grown)?.[0];
  if (found === undefined) return undefined;
  const raised = found.replace(/"[^"\\]*"$/, () => JSON.stringify(version));
  return `${grown.slice(0, at)}${raised}${grown.slice(at + found.length)}`;
}

function offsetOf(text: string, { line, column }: { readonly line: number; readonly column: number }): number {
  let start = 0;
  for (let n = 1; n < line; n++) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}

/** The position after the brace that closes the object that begins here. */
function endOfObject(text: string, from: number): number | undefined {
  if (text[from] !== "{") return undefined;
  let depth = 0;
  let inText = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (inText) {
      if (character === "\\") at++;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return at + 1;
  }
  return undefined;
}

function says(text: string, suite: AgentEvalSuite): boolean {
  try {
    return deepEqual(JSON.parse(text), suite);
  } catch {
    return false;
  }
}
