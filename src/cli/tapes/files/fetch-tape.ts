import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { readJson } from "../../../formats/json/exact-json.ts";
import { ByteHash, TapeDigest } from "../../../formats/tapes/digest.ts";
import {
  INLINE_BYTES_MAX,
  isBodyHash,
  printTapeRecord,
  readTapeLine,
  referencedBodies,
  type TapeRecord,
} from "../../../formats/tapes/tape.ts";
import { byteLines } from "../../../formats/text/byte-lines.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { TapeDetails } from "../../../protocol/tapes/api.ts";
import { chunksOf } from "../../../sdk/call.ts";
import type { ClientResponse } from "../../../sdk/response.ts";
import type { Client } from "../../client/client.ts";
import { writeOutput } from "../../files/write-file.ts";
import { bodiesOf, sidecarOf } from "./tape-paths.ts";

export interface FetchedTape {
  readonly records: number;
  readonly bodies: readonly string[];
  /** Named by records, and not on the server. */
  readonly missing: readonly string[];
  /** False for a tape that had secrets: annotations name the digest it had with them. */
  readonly asItCame: boolean;
}

/** Writes the tape of a run to `path`, and its bodies beside it. Whoever calls sees to it that nobody takes a part for the whole. */
export async function fetchTape(client: Client, url: string, runId: string, path: string): Promise<FetchedTape> {
  const details = await detailsOf(client, runId);
  const lines = new TapeLines(path, details === undefined, await TapeDigest.start());
  await writeOutput(path, lines.through(bytesOf(await client.tapes.export(runId).asResponse(), url)));
  const { records } = lines;
  if (details === undefined) return { records, bodies: [...lines.bodies], missing: [], asItCame: true };
  const absent = new Set(details.bodies.missing);
  const bodies = [...lines.bodies].filter((hash) => !absent.has(hash));
  for (const hash of bodies) await fetchBody(client, { url, runId, path, hash });
  return { records, bodies, missing: details.bodies.missing, asItCame: lines.digest.hex() === details.digest };
}

/** Writes the annotations of a run beside its tape; false where the server keeps none. */
export async function fetchSidecar(client: Client, runId: string, path: string): Promise<boolean> {
  try {
    await writeOutput(sidecarOf(path), [await client.tapes.pullSidecar(runId)]);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "capability_not_provided") return false;
    throw error;
  }
}

/** Undefined for a run that came in another way. */
async function detailsOf(client: Client, runId: string): Promise<TapeDetails | undefined> {
  try {
    return await client.tapes.get(runId);
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** The lines of a tape on their way to a file, and what stands beside it. */
class TapeLines {
  readonly bodies = new Set<string>();
  records = 0;
  readonly #path: string;
  /** Records that were made of events hold all there is; those of a tape are left exactly as they are. */
  readonly #made: boolean;
  readonly digest: TapeDigest;

  constructor(path: string, made: boolean, digest: TapeDigest) {
    this.#path = path;
    this.#made = made;
    this.digest = digest;
  }

  async *through(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    for await (const bytesOfLine of byteLines(bytes)) {
      const text = Buffer.from(bytesOfLine).toString("utf8");
      const line = readTapeLine(readJson(text));
      if (line.type === "header") {
        yield `${text}\n`;
        continue;
      }
      this.records++;
      const record = this.#made ? await this.#shortened(line.record) : line.record;
      this.digest.add(record);
      for (const hash of referencedBodies(record)) if (isBodyHash(hash)) this.bodies.add(hash);
      yield `${printTapeRecord(record)}\n`;
    }
  }

  async #shortened(record: TapeRecord): Promise<TapeRecord> {
    const { kind } = record;
    if (kind.kind !== "model_job" || !("text" in kind.event)) return record;
    const { content_hash, text } = kind.event;
    const size = Buffer.byteLength(text);
    if (size <= INLINE_BYTES_MAX) return record;
    if (!this.bodies.has(content_hash)) await writeOutput(join(bodiesOf(this.#path), content_hash), [text]);
    return { ...record, kind: { ...kind, event: { content_hash, len_bytes: BigInt(size) } } };
  }
}

async function fetchBody(
  client: Client,
  { url, runId, path, hash }: Readonly<Record<"url" | "runId" | "path" | "hash", string>>,
): Promise<void> {
  const response = await client.tapes.body(runId, hash).asResponse();
  const folder = bodiesOf(path);
  await mkdir(folder, { recursive: true });
  const bytes = await ByteHash.start();
  await pipeline(bytes.through(bytesOf(response, url)), createWriteStream(join(folder, hash), { flush: true }));
  if (bytes.hex() !== hash) throw new AppError("unreachable", { url, reason: `body ${hash} did not arrive as it is` });
}

async function* bytesOf({ body }: ClientResponse, url: string): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* chunksOf(body);
  } catch (cause) {
    throw new AppError("unreachable", { url, reason: "the answer broke off" }, { cause });
  }
}
