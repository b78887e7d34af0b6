import { resolve } from "node:path";

/** A reviewer in the settings, bound to the name of an agent. */
export type WrittenReviewer = { readonly agent: string } & (
  | { readonly type: "builtin" }
  /** The model of the setting `reviewModel` where `model` is absent. */
  | { readonly type: "model"; readonly model?: string }
  | { readonly type: "command"; readonly program: string; readonly args: readonly string[] }
);

/**
 * A list of texts, or one text in which semicolons separate them. Throws a plain Error that continues a sentence beginning with the
 * setting's name.
 */
export function parseReviewers(raw: unknown, relativeTo: string): WrittenReviewer[] {
  const items: readonly unknown[] = Array.isArray(raw) ? raw : typeof raw === "string" ? raw.split(";") : [raw];
  const reviewers = items
    .filter((item) => typeof item !== "string" || item.trim() !== "")
    .map((item) => parseReviewer(item, relativeTo));
  const names = reviewers.map(({ agent }) => agent);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`must bind a name once, and binds ${twice} twice`);
  return reviewers;
}

const BINDING = /^\s*([A-Za-z0-9][\w.-]{0,127})\s*=\s*(builtin|model|command)\s*(?::(.*))?$/s;

function parseReviewer(item: unknown, relativeTo: string): WrittenReviewer {
  const [, agent, type, more] = (typeof item === "string" ? BINDING.exec(item) : undefined) ?? [];
  if (agent === undefined)
    throw new Error(`must be NAME=builtin, NAME=model:MODEL or NAME=command:PROGRAM${not(item)}`);
  const what = more?.trim() ?? "";
  if (type === "builtin") {
    if (what === "") return { agent, type };
    throw new Error(`must be ${agent}=builtin with nothing behind it`);
  }
  if (type === "model") return { agent, type, ...(what === "" ? {} : { model: what }) };
  const [program, ...args] = words(what);
  if (program === undefined || program === "") throw new Error(`must name the program of ${agent}=command:PROGRAM`);
  return { agent, type: "command", program: found(program, relativeTo), args };
}

/** Blanks separate words; quotes keep them together. No shell is involved. */
function words(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(([whole, double, single]) => double ?? single ?? whole);
}

/** A program with a slash is a path; others are looked up in PATH. */
function found(program: string, relativeTo: string): string {
  return program.includes("/") ? resolve(relativeTo, program) : program;
}

function not(item: unknown): string {
  return `, not ${(JSON.stringify(item) ?? "nothing").slice(0, 60)}`;
}
