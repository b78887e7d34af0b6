import { statSync } from "node:fs";
import { resolve } from "node:path";
import { quotesOf } from "../../evals/run/quotes.ts";
import { conclude, type Demands, FAIL_ON } from "../../formats/evals/conclusion.ts";
import { evalJsonText } from "../../formats/evals/eval-json.ts";
import type { EvalOutcome } from "../../formats/evals/eval-outcome.ts";
import { junitXml } from "../../formats/evals/junit.ts";
import { markdownText } from "../../formats/evals/markdown.ts";
import { sarifText } from "../../formats/evals/sarif.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { EvalEntry } from "../../protocol/evals/baselines.ts";
import type { Comparison } from "../../protocol/evals/eval-statistics.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Client } from "../client/client.ts";
import { split } from "../files/arguments.ts";
import { writeOutput } from "../files/write-file.ts";
import { packageVersion } from "../paths.ts";
import type { FlagValues } from "../program/command.ts";
import type { EvalBackend } from "./backend.ts";
import type { EVAL_FILES_FLAGS } from "./commands.ts";

/** The result of an evaluation, with the content that the key may read. */
export async function outcomeOf(backend: EvalBackend, runId: string, demands: Demands): Promise<EvalOutcome> {
  const entry = await backend.client.evals.get(runId);
  const report = isTerminal(entry.status) ? await endedReport(backend.client, entry) : undefined;
  const conclusion = conclude(entry, report, demands);
  if (report !== undefined) return { entry, report, conclusion, quotes: quotesOf(report) };
  if (!(await backend.isInterrupted(entry))) return { entry, conclusion };
  const how = `resume it with the same \`assay eval run\` command and --resume ${runId}`;
  const sentence = `No verdict: the evaluation has not ended; it was interrupted. To finish it, ${how}.`;
  return { entry, conclusion: { ...conclusion, sentence } };
}

/** The report of an evaluation that has ended. An older server has none of an evaluation that did not complete. */
async function endedReport(client: Client, { runId, status }: EvalEntry): Promise<EvalReport | undefined> {
  try {
    return await reportOf(client, runId);
  } catch (error) {
    const isMissing = error instanceof AppError && (error.code === "run_state_conflict" || error.code === "not_found");
    if (status !== "completed" && isMissing) return undefined;
    throw error;
  }
}

/** The report with the content of its tasks for a key that may read it, else with figures only. */
export async function reportOf({ evals }: Client, runId: string): Promise<EvalReport> {
  try {
    return readableReport(await evals.report(runId, { content: "true" }));
  } catch (error) {
    if (!(error instanceof AppError && error.code === "forbidden")) throw error;
    return readableReport(await evals.report(runId));
  }
}

type Task = EvalReport["tasks"][number];
type Later = "modeFigures" | "notRun" | "warnings" | "tasks" | "baseline";

/** A report as servers sent it before each mode was a pass of its own. */
type AnyReport = Omit<EvalReport, Later> &
  Partial<Pick<EvalReport, "modeFigures" | "notRun" | "warnings">> & {
    readonly tasks: readonly (Omit<Task, "passes"> & Partial<Pick<Task, "passes">>)[];
    readonly baseline?: Omit<NonNullable<EvalReport["baseline"]>, "comparison"> & {
      readonly comparison: (Omit<Comparison, "unpairedModes"> & Partial<Pick<Comparison, "unpairedModes">>) | null;
    };
  };

/** A report of a server of any version. Members that an earlier version does not send are empty, which means one pass for all modes. */
function readableReport(report: AnyReport): EvalReport {
  const { modeFigures = [], notRun = [], warnings = [], tasks, baseline, ...rest } = report;
  const comparison = baseline?.comparison;
  const compared = comparison && { unpairedModes: { candidate: [], baseline: [] }, ...comparison };
  return {
    ...rest,
    modeFigures,
    notRun,
    warnings,
    tasks: tasks.map(({ passes = [], ...task }) => ({ ...task, passes })),
    ...defined({ baseline: baseline && { ...baseline, comparison: compared ?? null } }),
  };
}

/** The requirements that flags add to those of the suite. */
export function demandsOf(flags: { readonly failOn: readonly string[]; readonly requireVerdict: boolean }): Demands {
  const failOn = split(flags.failOn).map((word) => {
    const known = FAIL_ON.find((one) => one === word);
    if (known === undefined) throw unusableInput(`--fail-on takes ${FAIL_ON.join(", ")}, and not ${word}`);
    return known;
  });
  return { failOn, requireVerdict: flags.requireVerdict };
}

export const NO_DEMANDS: Demands = { failOn: [], requireVerdict: false };

type FileFlags = FlagValues<typeof EVAL_FILES_FLAGS>;

/** Refuses files that cannot be written, before anything is run. */
export function checkFiles({ output, junit, md, sarif }: FileFlags): void {
  const paths = [output, junit, md, sarif].filter((path) => path !== undefined);
  const twice = paths.find((path, i) => paths.findIndex((other) => resolve(other) === resolve(path)) < i);
  if (twice !== undefined) throw unusableInput(`${twice} is named for two files`);
  for (const path of paths) {
    if (path === "") throw unusableInput("a file to write has no name");
    if (isFolder(path)) throw unusableInput(`${path} is a folder; name a file`);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whether it can be written is known when it is written.
    return false;
  }
}

/** Writes each file as a whole or not at all. Only the Markdown quotes content without `--with-content`. */
export async function writeFiles(outcome: EvalOutcome, flags: FileFlags): Promise<void> {
  const shown = flags.withContent ? outcome : withoutContent(outcome);
  const texts = [
    [flags.output, () => evalJsonText(shown)],
    [flags.junit, () => junitXml(shown)],
    [flags.sarif, () => sarifText(shown, packageVersion())],
    [flags.md, () => markdownText(outcome)],
  ] as const;
  for (const [path, text] of texts) if (path !== undefined) await writeText(path, text());
}

/** The text of `--json`, which is that of `--output`. */
export function jsonText(outcome: EvalOutcome, { withContent }: Pick<FileFlags, "withContent">): string {
  return evalJsonText(withContent ? outcome : withoutContent(outcome)).trimEnd();
}

function withoutContent({ entry, report, conclusion, places }: EvalOutcome): EvalOutcome {
  const figures = report && { ...report, tasks: report.tasks.map(({ content: _, ...task }) => task) };
  return { entry, conclusion, ...defined({ report: figures, places }) };
}

/** Missing folders are made. Throws `unusable_input` when the file cannot be written. */
export async function writeText(path: string, text: string): Promise<void> {
  await writeOutput(path, [text]).catch((error: unknown) => {
    throw error instanceof FileError ? unusableInput(`${path} cannot be written: ${error.message}`) : error;
  });
}
