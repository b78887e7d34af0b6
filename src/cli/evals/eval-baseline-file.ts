import { baselineFileText } from "../../formats/evals/baseline-file.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalBaseline } from "../../protocol/evals/eval-baseline.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { orNearest } from "../program/nearest-name.ts";
import { loadBaselineFile } from "./baseline-file.ts";
import { baselineText } from "./baseline-text.ts";
import { withBackend } from "./choose-backend.ts";
import type { EvalBackend } from "./eval-backend.ts";
import type { BASELINE_EXPORT_FLAGS, BASELINE_IMPORT_FLAGS } from "./eval-baseline-commands.ts";
import { writeText } from "./eval-files.ts";
import { allBaselines } from "./named-baseline.ts";

export async function baselineExport(call: Call<typeof BASELINE_EXPORT_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [name = ""] = args;
  const file = await withBackend(
    call,
    async ({ client }) => {
      const all = (await allBaselines(client)).filter(({ suiteId }) => (flags.suite ?? suiteId) === suiteId);
      const names = async () => all.map((one) => one.name);
      const { suiteId } = await orNearest(chosen(all, name), { baseline: { name, names, hint: LIST } });
      return client.evals.exportBaseline(suiteId, name);
    },
    { reads: true },
  );
  if (flags.out === undefined) {
    io.out(baselineFileText(file).trimEnd());
    return;
  }
  await writeText(flags.out, baselineFileText(file));
  const { sha256: fileSha256, suiteId, suiteVersion, tasks } = file;
  const told = `${flags.out}: ${name} of ${suiteId}@${suiteVersion}, ${tasks.length === 1 ? "1 task" : `${tasks.length} tasks`}`;
  io.out(json ? JSON.stringify({ file: flags.out, fileSha256, suiteId, name }) : printable(told));
}

const LIST = "See which there are with: assay eval baseline list";

async function chosen(all: readonly EvalBaseline[], name: string): Promise<EvalBaseline> {
  const [first, second] = all.filter((one) => one.name === name);
  if (first === undefined) throw new AppError("not_found", { what: "baseline", name });
  if (second === undefined) return first;
  throw new AppError("unusable_input", {
    problem: `several suites have a baseline ${name}, like ${first.suiteId} and ${second.suiteId}; say which with --suite`,
  });
}

export async function baselineImport(call: Call<typeof BASELINE_IMPORT_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const file = await loadBaselineFile(args[0] ?? "");
  const keep = async ({ client: { evals } }: EvalBackend) => {
    await evals.keepBaselineFile(file.sha256, file);
    return evals.setBaseline(file.suiteId, flags.name ?? file.name, { fileSha256: file.sha256 });
  };
  const set = await withBackend(call, keep, { mayBeNew: true });
  io.out(json ? JSON.stringify(set) : printable(baselineText(set)));
}
