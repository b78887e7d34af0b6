import { readFile, stat } from "node:fs/promises";
import { baselineFileText, readBaselineFile } from "../../formats/evals/baseline-file.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { BaselineFile, EvalBaseline } from "../../protocol/evals/baselines.ts";
import type { Client } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { type Named, orNearest } from "../program/nearest-name.ts";
import { type EvalBackend, withBackend } from "./backend.ts";
import type { BASELINE_EXPORT_FLAGS, BASELINE_IMPORT_FLAGS, BASELINE_SET_FLAGS } from "./commands.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { writeText } from "./outcome.ts";

export async function baselineSet(call: Call<typeof BASELINE_SET_FLAGS>): Promise<undefined> {
  const { args, flags } = call;
  const [name = "", runId] = args;
  if (flags.latest === (runId !== undefined)) throw unusableInput("name a RUN, or use --latest");
  const isLatest = flags.latest || runId === LATEST;
  if (flags.suite !== undefined && !isLatest) throw unusableInput("--suite goes with --latest");
  const set = await withBackend(call, "writes", async ({ client }) => {
    const wanted = { status: "completed", ...(flags.suite === undefined ? {} : { suiteId: flags.suite }) } as const;
    const chosen = await evalNamed(client, runId ?? LATEST, wanted);
    const { suiteId } = await client.evals.get(chosen);
    return client.evals.setBaseline(suiteId, name, { runId: chosen });
  });
  print(call, set);
}

export async function baselineList(call: Call): Promise<undefined> {
  const baselines = await withBackend(call, "reads", ({ client }) => allBaselines(client));
  const answer = { baselines };
  printList(call, baselines, answer, {
    empty: "No baselines yet. Set one with: assay eval baseline set NAME --latest",
    headings: ["NAME", "SUITE", "RUN", "PASSED", "SET BY", "SET AT"],
    row: ({ suiteId, suiteVersion, name, runId, passedCount, taskCount, setBy, setAt, imported }) =>
      [
        name,
        `${suiteId}@${suiteVersion}`,
        imported === undefined ? runId : `${runId} (imported)`,
        `${passedCount}/${taskCount}`,
        setBy,
        setAt.slice(0, 19).replace("T", " "),
      ].map(printable),
  });
}

export async function baselineRemove(call: Call): Promise<undefined> {
  const { args, json, io } = call;
  const [suiteId = "", name = ""] = args;
  await withBackend(call, "writes", ({ client }) =>
    orNearest(client.evals.removeBaseline(suiteId, name), { baseline: namedBaseline(client, suiteId, name) }),
  );
  const removed = printable(`The baseline ${name} of ${suiteId} is removed.`);
  io.out(json ? JSON.stringify({ suiteId, name, removed: true }) : removed);
}

export async function baselineExport(call: Call<typeof BASELINE_EXPORT_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [name = ""] = args;
  const file = await withBackend(call, "reads", async ({ client }) => {
    const all = (await allBaselines(client)).filter(({ suiteId }) => (flags.suite ?? suiteId) === suiteId);
    const names = async () => all.map((one) => one.name);
    const { suiteId } = await orNearest(onlyOne(all, name), { baseline: { name, names, hint: LIST } });
    return client.evals.exportBaseline(suiteId, name);
  });
  if (flags.out === undefined) return io.out(baselineFileText(file).trimEnd()) as undefined;
  await writeText(flags.out, baselineFileText(file));
  const { sha256: fileSha256, suiteId, suiteVersion, tasks } = file;
  const text = `${flags.out}: ${name} of ${suiteId}@${suiteVersion}, ${formatCount(tasks.length, "task")}`;
  io.out(json ? JSON.stringify({ file: flags.out, fileSha256, suiteId, name }) : printable(text));
}

const LIST = "See which there are with: assay eval baseline list";

async function onlyOne(all: readonly EvalBaseline[], name: string): Promise<EvalBaseline> {
  const [first, second] = all.filter((one) => one.name === name);
  if (first === undefined) throw new AppError("not_found", { what: "baseline", name });
  if (second === undefined) return first;
  const suites = `${first.suiteId} and ${second.suiteId}`;
  throw unusableInput(`several suites have a baseline ${name}, like ${suites}; choose one with --suite`);
}

export async function baselineImport(call: Call<typeof BASELINE_IMPORT_FLAGS>): Promise<undefined> {
  const { args, flags } = call;
  const file = await loadBaselineFile(args[0] ?? "");
  const keep = async ({ client: { evals } }: EvalBackend) => {
    await evals.keepBaselineFile(file.sha256, file);
    return evals.setBaseline(file.suiteId, flags.name ?? file.name, { fileSha256: file.sha256 });
  };
  print(call, await withBackend(call, "creates", keep));
}

function print({ json, io }: Pick<Call, "json" | "io">, baseline: EvalBaseline): void {
  const { suiteId, suiteVersion, name, runId, passedCount, taskCount, replacedRunId, imported } = baseline;
  const before = replacedRunId === undefined ? "" : `, instead of ${replacedRunId}`;
  const from = imported === undefined ? "" : `, imported: ${imported.setBy} set it at ${imported.setAt}`;
  const text = `${name} of ${suiteId}@${suiteVersion} is ${runId} (${passedCount} of ${taskCount} tasks passed)${from}${before}`;
  io.out(json ? JSON.stringify(baseline) : printable(text));
}

/** The baselines of a suite, to suggest one for a name that does not exist. */
export function namedBaseline(client: Client, suiteId: string, name: string): Named {
  const ofSuite = async () => (await allBaselines(client)).filter((one) => one.suiteId === suiteId);
  return { name, names: async () => (await ofSuite()).map((one) => one.name) };
}

/** Whether a baseline has this name, even if the name is `latest`. */
export async function isBaseline(client: Client, suiteId: string, name: string): Promise<boolean> {
  return (await allBaselines(client)).some((one) => one.suiteId === suiteId && one.name === name);
}

function allBaselines({ evals }: Client): Promise<EvalBaseline[]> {
  return evals.baselines({ limit: 200 }).all();
}

/** Whether an argument is the path of a baseline file: names have no slashes, and are not expected to end in `.json`. */
export function isBaselineFile(argument: string): boolean {
  return /[\\/]|\.json$/i.test(argument);
}

/** More than ten thousand tasks take. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** Throws `unusable_input` for a file that is missing, too large, damaged or of another format. */
export async function loadBaselineFile(path: string): Promise<BaselineFile> {
  const checked = readBaselineFile(await fileText(path));
  if (checked.ok) return checked.file;
  throw unusableInput(`${path} cannot be a baseline: ${checked.problem}`);
}

async function fileText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= FILE_BYTES_MAX) return await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read: ${message}`;
    throw unusableInput(`${problem}; write one with: assay eval baseline export NAME --out FILE`);
  }
  throw unusableInput(`${path} is larger than any baseline`);
}
