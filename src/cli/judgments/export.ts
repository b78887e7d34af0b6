import { parsedJson } from "../../formats/json/check-json.ts";
import { byteLines } from "../../formats/text/byte-chunks.ts";
import { AppError } from "../../protocol/errors.ts";
import { JudgmentEnd } from "../../protocol/judgments/judgment-file.ts";
import { matches } from "../../protocol/schema.ts";
import { chunksOf } from "../../sdk/call.ts";
import { connect } from "../client/client.ts";
import { refuseExisting, writeWhole } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import { annotationFilter } from "./annotations.ts";
import type { EXPORT_FLAGS } from "./commands.ts";

export async function exportJudgments(call: Call<typeof EXPORT_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const { output } = flags;
  if (output === undefined) {
    await toStandardOutput(call);
    return;
  }
  refuseExisting(output, flags.force);
  const written = { judgments: 0 };
  await writeWhole(output, copied(call, new AbortController().signal, written), { ownerOnly: true });
  if (json) io.out(JSON.stringify({ file: output, ...written }));
  else io.out(`${output}: ${formatCount(written.judgments, "judgment")}`);
}

async function toStandardOutput(call: Call<typeof EXPORT_FLAGS>): Promise<void> {
  const { io } = call;
  try {
    for await (const line of copied(call, io.outClosed, { judgments: 0 })) io.out(line.slice(0, -1));
  } catch (error) {
    // A reader that closes the pipe is not an error.
    if (!io.outClosed.aborted) throw error;
  }
}

const PROGRESS_EVERY = 1000;

/** The server's lines as they come. Throws at the end unless all of them came: a part must not be taken for the whole. */
async function* copied(
  { flags, config, io }: Call<typeof EXPORT_FLAGS>,
  signal: AbortSignal,
  written: { judgments: number },
): AsyncGenerator<string> {
  const query = annotationFilter(flags.run, flags, Date.now());
  const { body } = await connect(config).judgments.export(query, { signal }).asResponse();
  if (body === null) throw brokeOff(config.url);
  let lines = 0;
  let last = "";
  for await (const line of byteLines(unbroken(body, config.url))) {
    lines += 1;
    last = Buffer.from(line).toString("utf8");
    yield `${last}\n`;
    if (lines % PROGRESS_EVERY === 0) io.progress(formatCount(lines, "judgment"));
  }
  written.judgments = lines - 2;
  const end = parsedJson(last);
  if (!matches(JudgmentEnd, end) || end.count !== written.judgments) throw brokeOff(config.url);
}

async function* unbroken(body: ReadableStream<Uint8Array>, url: string): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksOf(body);
  } catch (error) {
    throw brokeOff(url, error);
  }
}

function brokeOff(url: string, cause?: unknown): AppError {
  return new AppError("unreachable", { url, reason: "the export broke off" }, { cause });
}
