import { createHash } from "node:crypto";
import { BASELINE_FILE_VERSION, BASELINE_FORMAT, BaselineFile } from "../../protocol/evals/baselines.ts";
import { firstProblem, matches } from "../../protocol/schema.ts";
import { canonicalJson } from "../json/canonical-json.ts";

/** Adds format, version and the digest of the content. */
export function baselineFileOf(fields: Omit<BaselineFile, "format" | "version" | "sha256">): BaselineFile {
  const content = { format: BASELINE_FORMAT, version: BASELINE_FILE_VERSION, ...fields } as const;
  return { ...content, sha256: digestOf(content) };
}

/** A line for each task, so that a review of its diff shows which tasks changed. */
export function baselineFileText({ tasks, sha256, ...head }: BaselineFile): string {
  const members = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  const lines = tasks.map((task) => `    ${JSON.stringify(task)}`).join(",\n");
  return ["{", ...members, '  "tasks": [', lines, "  ],", `  "sha256": ${JSON.stringify(sha256)}`, "}", ""].join("\n");
}

export type CheckedBaselineFile =
  | { readonly ok: true; readonly file: BaselineFile }
  /** The problem and its remedy. */
  | { readonly ok: false; readonly problem: string };

const EXPORT = "assay eval baseline export";

export function readBaselineFile(text: string): CheckedBaselineFile {
  try {
    return checkBaselineFile(JSON.parse(text.replace(/^\ufeff/, "")));
  } catch (error) {
    if (error instanceof SyntaxError) return bad(`it is not JSON; write it anew with ${EXPORT}`);
    throw error;
  }
}

/** Whether the value is an unchanged baseline. A deliberate forgery is not detected. */
export function checkBaselineFile(value: unknown): CheckedBaselineFile {
  const { format, version } = (value ?? {}) as { readonly format?: unknown; readonly version?: unknown };
  if (format === "assay-eval") {
    return bad(`it is the result of an evaluation; name that as a baseline and write it with ${EXPORT}`);
  }
  if (format !== BASELINE_FORMAT) return bad(`it is no baseline; write one with ${EXPORT}`);
  if (version !== BASELINE_FILE_VERSION && version !== 1) {
    return bad(
      `it is of version ${JSON.stringify(version)}, and this assay reads 1 to ${BASELINE_FILE_VERSION}; use the assay that wrote it, or write it anew with ${EXPORT}`,
    );
  }
  if (!matches(BaselineFile, value)) {
    return bad(`${firstProblem(BaselineFile, value, "/")}; write it anew with ${EXPORT}`);
  }
  if (!isAsWritten(value)) {
    return bad(`it is damaged or was changed: its sha256 is not that of its content; write it anew with ${EXPORT}`);
  }
  const wrong = contradictionIn(value);
  return wrong === undefined ? { ok: true, file: value } : bad(`${wrong}; write it anew with ${EXPORT}`);
}

function isAsWritten({ sha256, ...content }: BaselineFile): boolean {
  try {
    return digestOf(content) === sha256;
  } catch {
    // A lone surrogate has no canonical form, so no baseline that was written here has one.
    return false;
  }
}

function contradictionIn({ tasks, passedCount }: BaselineFile): string | undefined {
  const ids = new Set(tasks.map(({ taskId }) => taskId));
  if (ids.size < tasks.length) return "a task is there twice";
  const outcomes = tasks.flatMap((task) => [task, ...(task.passes ?? [])]);
  if (outcomes.some(({ score, passed }) => score === null && passed)) return "a task passed that has no score";
  const hasTwice = ({ passes = [] }: BaselineFile["tasks"][number]) =>
    new Set(passes.map(({ mode }) => mode)).size < passes.length;
  if (tasks.some(hasTwice)) return "a mode of a task is there twice";
  return passedCount > tasks.length ? "more tasks passed than there are" : undefined;
}

function digestOf(content: Omit<BaselineFile, "sha256">): string {
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}

function bad(problem: string): CheckedBaselineFile {
  return { ok: false, problem };
}
