import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { scrubLine } from "../../../formats/tapes/scrub.ts";
import { sidecarUnreadable } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import { readTapeFacts } from "../../../formats/tapes/tape-facts.ts";
import { AppError } from "../../../protocol/errors.ts";
import { type Client, connect } from "../../client/client.ts";
import type { Call } from "../../program/command.ts";
import { processScrubber } from "../../wiring/process-scrubber.ts";
import type { PULL_FLAGS } from "../commands/sync.ts";
import { fileBytes, watchedBytes } from "./file-bytes.ts";
import { sidecarOf } from "./tape-paths.ts";

const ROWS_AT_A_TIME = 2500;

/** A sidecar here, and the run that it belongs to there. */
export interface SyncedSidecar {
  /** Many rows take their time: for every so many the server has as long as it has for a request. */
  client(rows?: number): Client;
  /** Of the sidecar here. */
  readonly path: string;
  readonly runId: string;
  /** As every line is before the server is shown it. */
  scrub(line: string): string;
}

export async function syncedSidecar(call: Pick<Call<typeof PULL_FLAGS>, "args" | "flags" | "config" | "io">) {
  const { args, flags, config } = call;
  const tape = args[0] ?? "";
  const runId = flags.run ?? (await runOf(connect(config), tape, call));
  const { scrubText } = await processScrubber(config);
  const synced: SyncedSidecar = {
    client: (rows = 0) => connect({ ...config, timeoutMs: config.timeoutMs * (1 + Math.floor(rows / ROWS_AT_A_TIME)) }),
    path: flags.annotations ?? sidecarOf(tape),
    runId,
    scrub: (line) => scrubLine(line, scrubText),
  };
  return synced;
}

async function runOf(client: Client, tape: string, { io }: Pick<Call, "io">): Promise<string> {
  const { digest } = await readTapeFacts(tape, watchedBytes(tape, io), { isUtf8 });
  const { tapes } = await client.tapes.list({ digest, limit: 1 });
  if (tapes[0] !== undefined) return tapes[0].runId;
  const problem = `the server has no run that came as ${tape}; make one with \`assay tape import ${tape}\`, or name the run with --run`;
  throw new AppError("unusable_input", { problem });
}

/** Undefined when there is no such file. Throws like every reader of sidecars when it cannot be read. */
export async function sidecarText(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of fileBytes(path)) pieces.push(piece);
  } catch (error) {
    throw sidecarUnreadable(path, error instanceof Error ? error.message : String(error));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch {
    throw sidecarUnreadable(path, "stream did not contain valid UTF-8");
  }
}
