import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadSuite } from "../../evals/suite/load-suite.ts";
import { starterSuite } from "../../evals/suite/starter-suite.ts";
import type { SuiteProblem } from "../../evals/suite/suite-problem.ts";
import { parseSuiteRef, refText } from "../../evals/suite/suite-ref.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { SuiteInfo } from "../../protocol/evals/suite-api.ts";
import { writeWhole } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import { confirmed, type Io } from "../output/io.ts";
import { printable, shellWord } from "../output/printable.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { INIT_SUITE_FLAGS, VALIDATE_SUITE_FLAGS } from "./commands.ts";

/** The name and bytes of a file, or why it cannot be read. */
export type SuiteFile = { readonly file: string } & (
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly unreadable: string }
);

/** Files as they are named, and of a folder every `*.json` by name; subfolders are not read. */
export function* suiteFiles(paths: readonly string[]): Generator<SuiteFile> {
  for (const path of paths) {
    try {
      const files = statSync(path).isDirectory() ? filesIn(path) : [path];
      if (files.length === 0) yield { file: path, unreadable: "it holds no *.json file" };
      for (const file of files) yield read(file);
    } catch (error) {
      yield { file: path, unreadable: (error as Error).message };
    }
  }
}

function filesIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => join(folder, name));
}

function read(file: string): SuiteFile {
  try {
    return { file, bytes: new Uint8Array(readFileSync(file)) };
  } catch (error) {
    return { file, unreadable: (error as Error).message };
  }
}

interface Checked {
  readonly file: string;
  readonly ok: boolean;
  readonly suite?: Pick<SuiteInfo, "suiteId" | "version" | "sha256" | "taskCount" | "modes">;
  readonly unreadable?: string;
  readonly errors: number;
  readonly warnings: number;
  readonly problems: readonly SuiteProblem[];
}

/** Checks every file, so that one call shows all that is wrong. */
export async function suiteValidate({ args, flags, json, io }: Call<typeof VALIDATE_SUITE_FLAGS>): Promise<number> {
  const files = withSameReferences(Array.from(suiteFiles(args), check));
  const isFine = ({ ok, warnings }: Checked) => ok && !(flags.strict && warnings > 0);
  const results = files.map((checked) => ({ ...checked, ok: isFine(checked) }));
  const ok = results.every((result) => result.ok);
  if (json) io.out(JSON.stringify({ ok, files: results }));
  else for (const result of results) print(result, io);
  return ok ? EXIT.fine : EXIT.invalid;
}

function check({ file, ...found }: SuiteFile): Checked {
  if ("unreadable" in found) return { file, ok: false, ...found, errors: 1, warnings: 0, problems: [] };
  const loaded = loadSuite(found.bytes);
  const { ok, problems, warnings } = loaded;
  if (!loaded.ok) return { file, ok, errors: loaded.errors, warnings, problems };
  const { suiteId, version, tasks, modes } = loaded.suite;
  const suite = { suiteId, version, sha256: loaded.sha256, taskCount: tasks.length, modes };
  return { file, ok, suite, errors: 0, warnings, problems };
}

/** Adds a problem to a suite that has the id and version of an earlier one, and other content: a server keeps only one of them. */
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

/** The place has the form that editors and terminals turn into a link. */
function problemText(name: string, { severity, path, problem, fix, line, column }: SuiteProblem, io: Io): string {
  const place = line === undefined ? name : `${name}:${line}:${column}`;
  const word = severity === "error" ? io.paint.red("error") : io.paint.yellow("warning");
  const what = printable(`${path === "" ? "The suite" : path} ${problem}.`);
  return `${place}: ${word}: ${what}\n    ${io.paint.dim(fix)}`;
}

export async function suiteInit({ args, flags, json, io }: Call<typeof INIT_SUITE_FLAGS>): Promise<undefined> {
  const [file = "suite.json"] = args;
  const suite = starterSuite(flags.id === undefined ? undefined : checkedId(flags.id));
  if (existsSync(file) && !flags.force && !(await confirmed(io, `${printable(file)} exists. Replace it?`))) {
    throw unusableInput(`${file} exists and was not replaced; use --force or another name`);
  }
  makeFolder(dirname(file));
  await writeWhole(file, [`${JSON.stringify(suite, null, 2)}\n`]);
  const { suiteId, version, tasks } = suite;
  if (json) return void io.out(JSON.stringify({ file, suiteId, version, taskCount: tasks.length }));
  io.out(`${printable(file)}: ${suiteId}@${version}, ${tasks.length} tasks`);
  const next = `${programName()} eval run ${printable(shellWord(file))} --command PROGRAM`;
  io.err(`Next: replace the tasks by your own, then: ${next}. See docs/evals.md.`);
  return undefined;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw unusableInput(`${folder} cannot be created: ${(error as Error).message}`);
  }
}

function checkedId(id: string): string {
  try {
    const { suiteId, version } = parseSuiteRef(id);
    if (version === undefined) return suiteId;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  throw unusableInput(
    '--id must be small letters, digits, dots and hyphens, with ".evals." before the last part, like acme.support.evals.refunds',
  );
}
