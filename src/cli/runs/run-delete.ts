import { AppError } from "../../protocol/errors.ts";
import type { DeleteRunResponse } from "../../protocol/runs/deletion-operations.ts";
import { type Client, connect } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT, exitCodeOf } from "../program/exit-codes.ts";
import type { RUN_DELETE_FLAGS } from "./deletion-commands.ts";

export async function runDelete({ args, flags, json, config, io }: Call<typeof RUN_DELETE_FLAGS>): Promise<number> {
  if (!flags.yes && !(await isSure(io, args))) {
    io.err("assay: nothing was deleted.");
    return EXIT.invalid;
  }
  const client = connect(config);
  const results: Result[] = [];
  for (const runId of args) {
    const result = await deleteOne(client, runId);
    results.push(result);
    if (json) continue;
    if (result.error === undefined) io.out(printable(describe(result)));
    else io.err(`error: ${printable(`${runId}: ${result.error.message}`)}`);
  }
  if (json) io.out(JSON.stringify({ results }));
  return results.every(({ error }) => error === undefined) ? EXIT.fine : EXIT.invalid;
}

interface Result extends Partial<DeleteRunResponse> {
  readonly runId: string;
  readonly error?: { readonly error: string; readonly message: string };
}

/** One that cannot be deleted is told of and does not keep the others; being turned away ends it. */
async function deleteOne(client: Client, runId: string): Promise<Result> {
  try {
    return await client.runs.delete(runId);
  } catch (error) {
    if (!(error instanceof AppError) || exitCodeOf(error) !== EXIT.invalid) throw error;
    return { runId, error: { error: error.code, message: error.message } };
  }
}

async function isSure({ ask }: Io, runIds: readonly string[]): Promise<boolean> {
  if (ask === undefined) {
    throw new AppError("unusable_input", { problem: "nobody can be asked here whether to delete; say so with --yes" });
  }
  const what = runIds.length === 1 ? printable(runIds[0] ?? "") : formatCount(runIds.length, "run");
  const answer = await ask(`Delete ${what} for good, with everything about it? [y/N] `);
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

function describe({ runId, deletedRuns = [], annotations = 0 }: Result): string {
  const others = deletedRuns.length - 1;
  const went = [
    ...(others > 0 ? [`${formatCount(others, "run")} below it`] : []),
    ...(annotations > 0 ? [formatCount(annotations, "judgment")] : []),
  ];
  return `${runId} deleted${went.length === 0 ? "" : `, with ${went.join(" and ")}`}`;
}
