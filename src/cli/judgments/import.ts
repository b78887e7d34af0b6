import { readJudgments } from "../../formats/judgments/judgment-lines.ts";
import type { ImportResponse } from "../../protocol/judgments/judgment-file.ts";
import { connect } from "../client/client.ts";
import { seekable, textLines } from "../files/seekable-input.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { batchesOf, sendBatch } from "./import-batches.ts";
import type { IMPORT_FLAGS } from "./judgments-commands.ts";

/** As many as anybody reads; all are counted. */
const REFUSALS_LISTED = 1000;

type Tally = Omit<ImportResponse, "refused"> & { refused: ImportResponse["refused"]; refusedCount: number };

export async function importJudgments(call: Call<typeof IMPORT_FLAGS>): Promise<number> {
  const { args, flags, json, io } = call;
  const input = await seekable(args[0] ?? "");
  try {
    // Read to the end first: a file that is cut must not be imported in part.
    for await (const _ of readJudgments(textLines(input.path)));
    const tally = await send(call, input.path);
    if (json) io.out(JSON.stringify({ ...tally, dryRun: flags.dryRun }));
    else io.out(tallyText(tally, flags.dryRun));
    return tally.refusedCount === 0 ? EXIT.fine : EXIT.invalid;
  } finally {
    input.remove();
  }
}

async function send({ flags, json, config, io }: Call<typeof IMPORT_FLAGS>, path: string): Promise<Tally> {
  const client = connect(config);
  const tally: Tally = { imported: 0, updated: 0, unchanged: 0, refused: [], refusedCount: 0 };
  let reached = 1;
  try {
    for await (const batch of batchesOf(readJudgments(textLines(path)))) {
      const answer = "problem" in batch ? refusalOf(batch) : await sendBatch(client, batch, flags.dryRun);
      count(tally, answer);
      if (!json) for (const one of answer.refused) io.err(`Line ${one.line}: ${printable(one.problem)}`);
      reached = batch.line;
      io.progress(`line ${reached}`);
    }
  } catch (error) {
    tellHowFar(io, tally, reached);
    throw error;
  }
  return tally;
}

function refusalOf({ line, problem }: { readonly line: number; readonly problem: string }): ImportResponse {
  return { imported: 0, updated: 0, unchanged: 0, refused: [{ line, problem }] };
}

function count(tally: Tally, { imported, updated, unchanged, refused }: ImportResponse): void {
  tally.imported += imported;
  tally.updated += updated;
  tally.unchanged += unchanged;
  tally.refusedCount += refused.length;
  tally.refused.push(...refused.slice(0, REFUSALS_LISTED - tally.refused.length));
}

function tellHowFar(io: Io, { imported, updated }: Tally, line: number): void {
  if (imported + updated === 0) return;
  io.err(`Stopped after line ${line}. Import the file again to go on: what is here already stays as it is.`);
}

function tallyText({ imported, updated, unchanged, refusedCount }: Tally, dryRun: boolean): string {
  const would = dryRun ? "would be " : "";
  const judgments = formatCount(imported, "judgment");
  return `${judgments} ${would}imported, ${updated} ${would}updated, ${unchanged} unchanged, ${refusedCount} refused`;
}
