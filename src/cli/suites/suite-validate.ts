import { readFileSync } from "node:fs";
import { type LoadedSuite, loadSuite } from "../../evals/suite/load-suite.ts";
import type { SuiteProblem } from "../../evals/suite/suite-problem.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { VALIDATE_SUITE_FLAGS } from "./commands.ts";
import { suitePaths } from "./suite-paths.ts";

interface Checked {
  readonly file: string;
  readonly ok: boolean;
  readonly suite?: {
    readonly suiteId: string;
    readonly version: string;
    readonly sha256: string;
    readonly taskCount: number;
    readonly modes: readonly string[];
  };
  /** Why the file was not looked at. */
  readonly unreadable?: string;
  readonly errors: number;
  readonly warnings: number;
  readonly problems: readonly SuiteProblem[];
}

/** Every file is looked at, so that one run shows all that is wrong. */
export async function suiteValidate({ args, flags, json, io }: Call<typeof VALIDATE_SUITE_FLAGS>): Promise<number> {
  const files = withSameReferences(suitePaths(args).map(({ file, trouble }) => check(file, trouble)));
  const isFine = ({ ok, warnings }: Checked) => ok && !(flags.strict && warnings > 0);
  const results = files.map((checked) => ({ ...checked, ok: isFine(checked) }));
  const ok = results.every((result) => result.ok);
  if (json) io.out(JSON.stringify({ ok, files: results }));
  else for (const result of results) print(result, io);
  return ok ? EXIT.fine : EXIT.invalid;
}

function check(file: string, trouble: string | undefined): Checked {
  let loaded: LoadedSuite;
  try {
    if (trouble !== undefined) throw new Error(trouble);
    loaded = loadSuite(readFileSync(file));
  } catch (error) {
    return { file, ok: false, unreadable: (error as Error).message, errors: 1, warnings: 0, problems: [] };
  }
  const { ok, problems, warnings } = loaded;
  if (!loaded.ok) return { file, ok, errors: loaded.errors, warnings, problems };
  const { suiteId, version, tasks, modes } = loaded.suite;
  const suite = { suiteId, version, sha256: loaded.sha256, taskCount: tasks.length, modes };
  return { file, ok, suite, errors: 0, warnings, problems };
}

/** Two suites with one name cannot both be kept on a server. */
function withSameReferences(files: readonly Checked[]): Checked[] {
  const first = new Map<string, Checked>();
  return files.map((checked) => {
    if (checked.suite === undefined) return checked;
    const ref = refText(checked.suite);
    const other = first.get(ref);
    if (other === undefined) first.set(ref, checked);
    if (other === undefined || other.suite?.sha256 === checked.suite.sha256) return checked;
    const problem: SuiteProblem = {
      code: "same_reference",
      severity: "error",
      path: "",
      problem: `is ${ref}, and so is ${other.file}, with other content`,
      fix: "Give one of them another version or another id.",
    };
    return { ...checked, ok: false, errors: checked.errors + 1, problems: [...checked.problems, problem] };
  });
}

function print({ file, ok, suite, unreadable, errors, warnings, problems }: Checked, io: Io): void {
  const name = printable(file);
  if (unreadable !== undefined) {
    io.out(`${io.paint.red("✗")} ${name} cannot be read: ${printable(unreadable)}`);
    return;
  }
  for (const problem of problems) io.out(problemText(name, problem, io));
  const unlisted = errors + warnings - problems.length;
  if (unlisted > 0) io.out(`${name}: ${formatCount(unlisted, "further problem")} not listed`);
  const counts = [
    ...(errors > 0 ? [io.paint.red(formatCount(errors, "problem"))] : []),
    ...(warnings > 0 ? [io.paint.yellow(formatCount(warnings, "warning"))] : []),
  ];
  const mark = ok ? io.paint.green("✓") : io.paint.red("✗");
  const what =
    suite && `${refText(suite)}, ${formatCount(suite.taskCount, "task")}, sha256 ${suite.sha256.slice(0, 12)}`;
  io.out(`${mark} ${name}: ${[...(what === undefined ? [] : [what]), ...counts].join("; ")}`);
}

/** The place in the form that editors and terminals make a link of. */
function problemText(name: string, { severity, path, problem, fix, line, column }: SuiteProblem, io: Io): string {
  const place = line === undefined ? name : `${name}:${line}:${column}`;
  const word = severity === "error" ? io.paint.red("error") : io.paint.yellow("warning");
  const what = printable(`${path === "" ? "The suite" : path} ${problem}.`);
  return `${place}: ${word}: ${what}\n    ${io.paint.dim(fix)}`;
}
