import { headerLine, type JudgmentEntry, judgmentLine } from "../../formats/judgments/judgment-lines.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ImportResponse } from "../../protocol/judgments/judgment-file.ts";
import type { Client } from "../client/client.ts";

/** Lines that stand one after the other in the file. */
export interface Batch {
  readonly firstLine: number;
  /** The last one. */
  readonly line: number;
  readonly texts: readonly string[];
}

const LINES_MAX = 500;
/** Less than half of what a host takes unless it was told otherwise. */
const BYTES_MAX = 400_000;

/** Lines in batches, and those that are no judgments by themselves, in the order of the file. */
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

/** A host may take less at once than a batch is; then it is sent in halves. */
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
