import { headerLine, type JudgmentEntry, judgmentLine, readJudgments } from "../../formats/judgments/judgment-lines.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ImportResponse } from "../../protocol/judgments/judgment-file.ts";
import { type Client, connect } from "../client/client.ts";
import { seekable, textLines } from "../files/read-file.ts";
import { formatCount } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { IMPORT_FLAGS } from "./commands.ts";

/** More refusals are counted, and not listed. */
const REFUSALS_LISTED = 1000;

type Tally = Omit<ImportResponse, "refused"> & { refused: ImportResponse["refused"]; refusedCount: number };

export async function importJudgments(call: Call<typeof IMPORT_FLAGS>): Promise<number> {
  const { args, flags, json, io } = call;
  const input = await seekable(args[0] ?? "");
  try {
    // Read to the end first: a truncated file is not imported in part.
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
  const tally: Tally = { ...NONE, refused: [], refusedCount: 0 };
  let reached = 1;
  try {
    for await (const batch of batchesOf(readJudgments(textLines(path)))) {
      const answer = "problem" in batch ? { ...NONE, refused: [batch] } : await sendBatch(client, batch, flags.dryRun);
      count(tally, answer);
      if (!json) for (const one of answer.refused) io.err(`Line ${one.line}: ${printable(one.problem)}`);
      reached = batch.line;
      io.progress(`line ${reached}`);
    }
  } catch (error) {
    if (tally.imported + tally.updated > 0) {
      io.err(
        `Stopped after line ${reached}. To continue, import the file again: lines that were imported stay as they are.`,
      );
    }
    throw error;
  }
  return tally;
}

function count(tally: Tally, { imported, updated, unchanged, refused }: ImportResponse): void {
  tally.imported += imported;
  tally.updated += updated;
  tally.unchanged += unchanged;
  tally.refusedCount += refused.length;
  tally.refused.push(...refused.slice(0, REFUSALS_LISTED - tally.refused.length));
}

function tallyText({ imported, updated, unchanged, refusedCount }: Tally, dryRun: boolean): string {
  const would = dryRun ? "would be " : "";
  const judgments = formatCount(imported, "judgment");
  return `${judgments} ${would}imported, ${updated} ${would}updated, ${unchanged} unchanged, ${refusedCount} refused`;
}

/** Successive lines of the file. */
export interface Batch {
  readonly firstLine: number;
  /** The number of the last one. */
  readonly line: number;
  readonly texts: readonly string[];
}

const LINES_MAX = 500;
/** Less than half of the largest body that a host takes by default. */
const BYTES_MAX = 400_000;

/** Batches of lines in the order of the file, and between them each line that is no judgment. */
export async function* batchesOf(
  entries: AsyncIterable<JudgmentEntry>,
): AsyncGenerator<Batch | Extract<JudgmentEntry, { problem: string }>> {
  let texts: string[] = [];
  let bytes = 0;
  let line = 0;
  const take = (): Batch => {
    const batch = { firstLine: line - texts.length + 1, line, texts };
    texts = [];
    bytes = 0;
    return batch;
  };
  for await (const entry of entries) {
    const text = "judgment" in entry ? judgmentLine(entry.judgment) : "";
    const size = Buffer.byteLength(text) + 1;
    const fits = entry.line === line + 1 && texts.length < LINES_MAX && bytes + size <= BYTES_MAX;
    if (texts.length > 0 && (!fits || "problem" in entry)) yield take();
    if ("problem" in entry) {
      yield entry;
      continue;
    }
    texts.push(text);
    bytes += size;
    line = entry.line;
  }
  if (texts.length > 0) yield take();
}

/** Sends a batch; in halves where it is larger than the host takes. */
export async function sendBatch(client: Client, batch: Batch, dryRun: boolean): Promise<ImportResponse> {
  const { firstLine, line, texts } = batch;
  const body = `{"lines":[${[headerLine({}), ...texts].join(",")}],"firstLine":${firstLine},"dryRun":${dryRun}}`;
  try {
    return await client.judgments.import(body);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "payload_too_large") throw error;
    if (texts.length === 1) return { ...NONE, refused: [{ line, problem: "it is longer than the server takes" }] };
    const half = Math.ceil(texts.length / 2);
    const middle = firstLine + half;
    const first = await sendBatch(client, { firstLine, line: middle - 1, texts: texts.slice(0, half) }, dryRun);
    return sum(first, await sendBatch(client, { firstLine: middle, line, texts: texts.slice(half) }, dryRun));
  }
}

const NONE: ImportResponse = { imported: 0, updated: 0, unchanged: 0, refused: [] };

function sum(a: ImportResponse, b: ImportResponse): ImportResponse {
  return {
    imported: a.imported + b.imported,
    updated: a.updated + b.updated,
    unchanged: a.unchanged + b.unchanged,
    refused: [...a.refused, ...b.refused],
  };
}
