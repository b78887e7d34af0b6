import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { starterSuite } from "../../evals/suite/starter-suite.ts";
import { parseSuiteRef } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import { writeWhole } from "../files/write-file.ts";
import { printable, shellWord } from "../output/printable.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import type { INIT_SUITE_FLAGS } from "./commands.ts";

export async function suiteInit({ args, flags, json, io }: Call<typeof INIT_SUITE_FLAGS>): Promise<undefined> {
  const [file = "suite.json"] = args;
  const suite = starterSuite(flags.id === undefined ? undefined : checkedId(flags.id));
  if (existsSync(file) && !flags.force) {
    const answer = await io.ask?.(`${printable(file)} exists. Replace it? [y/N] `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) {
      throw new AppError("unusable_input", {
        problem: `${file} exists and was left alone; use --force or another name`,
      });
    }
  }
  makeFolder(dirname(file));
  await writeWhole(file, [`${JSON.stringify(suite, null, 2)}\n`]);
  const { suiteId, version, tasks } = suite;
  if (json) return void io.out(JSON.stringify({ file, suiteId, version, taskCount: tasks.length }));
  io.out(`${printable(file)}: ${suiteId}@${version}, ${tasks.length} tasks`);
  const next = `${programName()} eval run ${printable(shellWord(file))} --command PROGRAM`;
  io.err(`Next: make the tasks your own, then: ${next}. See docs/evals.md.`);
  return undefined;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new AppError("unusable_input", { problem: `${folder} cannot be made: ${(error as Error).message}` });
  }
}

function checkedId(id: string): string {
  try {
    const { suiteId, version } = parseSuiteRef(id);
    if (version === undefined) return suiteId;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  const form =
    'small letters, digits, dots and hyphens, with ".evals." before the last part, like acme.support.evals.refunds';
  throw new AppError("unusable_input", { problem: `--id must be ${form}` });
}
