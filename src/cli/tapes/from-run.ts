import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { readJson } from "../../formats/json/exact-json.ts";
import { ByteHash, bodyHash, TapeDigest } from "../../formats/tapes/digest.ts";
import {
  INLINE_BYTES_MAX,
  isBodyHash,
  printTapeRecord,
  readTapeLine,
  referencedBodies,
  type TapeRecord,
} from "../../formats/tapes/tape.ts";
import { byteLines } from "../../formats/text/byte-chunks.ts";
import { AppError } from "../../protocol/errors.ts";
import { chunksOf } from "../../sdk/call.ts";
import type { ClientResponse } from "../../sdk/response.ts";
import { type Client, connect, unlessRefused } from "../client/client.ts";
import { refuseExisting, writeOutput } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { TAPE_FROM_RUN_FLAGS } from "./commands.ts";
import { inDraftFolder, moveAll } from "./files/place-output.ts";
import { bodiesOf, sidecarOf } from "./files/tape-files.ts";

export async function tapeFromRun(call: Call<typeof TAPE_FROM_RUN_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [runId = ""] = args;
  const output = flags.output ?? `${runId}.tape`;
  for (const path of [output, sidecarOf(output)]) refuseExisting(path, flags.force);
  const client = connect(config);
  const { records, bodies, missing, asItCame, annotated } = await placeTape(output, async (tape) => ({
    ...(await fetchTape(client, config.url, runId, tape)),
    annotated: await fetchSidecar(client, runId, tape),
  }));
  const annotations = annotated ? sidecarOf(output) : undefined;
  if (json) {
    const result = { runId, tape: output, records, annotations, bodies: bodies.length, missing, asItCame };
    return void io.out(JSON.stringify(result));
  }
  for (const path of [output, ...(annotations === undefined ? [] : [annotations])]) io.out(printable(path));
  const stored =
    bodies.length === 0 ? "" : `, ${formatCount(bodies.length, "body")} in ${printable(bodiesOf(output))}/`;
  io.err(`${formatCount(records, "record")}${stored}.`);
  for (const hash of missing) io.err(`Body ${printable(hash)} is missing: the server does not have it.`);
  if (!asItCame) io.err("Secrets were removed from this tape, so its digest is not the one that its annotations name.");
  if (annotated) io.err(`Send annotations back with \`assay tape push ${printable(output)} --run ${runId}\`.`);
  return undefined;
}

interface FetchedTape {
  readonly records: number;
  readonly bodies: readonly string[];
  /** Bodies that records name and the server does not have. */
  readonly missing: readonly string[];
  /** False for a tape whose secrets were removed: its annotations name the digest of the original. */
  readonly asItCame: boolean;
}

/** Writes the tape of a run to `path`, and its bodies next to it. The caller hides the files until all are complete. */
async function fetchTape(client: Client, url: string, runId: string, path: string): Promise<FetchedTape> {
  // Undefined for a run that was not imported from a tape.
  const details = await unlessRefused("not_found", client.tapes.get(runId));
  const lines = new TapeLines(path, details === undefined, await TapeDigest.start());
  await writeOutput(path, lines.through(bytesOf(await client.tapes.export(runId).asResponse(), url)));
  const { records } = lines;
  if (details === undefined) return { records, bodies: [...lines.bodies], missing: [], asItCame: true };
  const absent = new Set(details.bodies.missing);
  const bodies = [...lines.bodies].filter((hash) => !absent.has(hash));
  for (const hash of bodies) await fetchBody(client, { url, runId, path, hash });
  return { records, bodies, missing: details.bodies.missing, asItCame: lines.digest.hex() === details.digest };
}

/** Writes the annotations of a run as the sidecar of its tape; false where the server keeps no annotations. */
async function fetchSidecar(client: Client, runId: string, path: string): Promise<boolean> {
  const sidecar = await unlessRefused("capability_not_provided", client.tapes.pullSidecar(runId));
  if (sidecar !== undefined) await writeOutput(sidecarOf(path), [sidecar]);
  return sidecar !== undefined;
}

/** Passes on the lines of a tape, and collects or writes the bodies that they refer to. */
class TapeLines {
  readonly bodies = new Set<string>();
  records = 0;
  readonly #path: string;
  /** Whether records were made from events: these hold long texts, which become bodies. Records of a tape do not change. */
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
    const bytes = Buffer.from(text);
    // The hash becomes the name of a file, so a server must not choose it.
    if (bytes.length <= INLINE_BYTES_MAX || (await bodyHash(bytes)) !== content_hash) return record;
    if (!this.bodies.has(content_hash)) await writeOutput(join(bodiesOf(this.#path), content_hash), [text]);
    return { ...record, kind: { ...kind, event: { content_hash, len_bytes: BigInt(bytes.length) } } };
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
  if (bytes.hex() !== hash)
    throw new AppError("unreachable", { url, reason: `body ${hash} arrived with another hash` });
}

async function* bytesOf({ body }: ClientResponse, url: string): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* chunksOf(body);
  } catch (cause) {
    throw new AppError("unreachable", { url, reason: "the connection was lost during the answer" }, { cause });
  }
}

/**
 * Writes a tape, its sidecar and its bodies into a draft folder and moves them to their places when all are complete; nothing changes when
 * that fails. Existing bodies stay.
 */
function placeTape<T>(output: string, write: (tape: string) => Promise<T>): Promise<T> {
  return inDraftFolder(dirname(output), output, async (draft) => {
    const tape = join(draft, basename(output));
    const written = await write(tape);
    await moveBodies(bodiesOf(tape), bodiesOf(output));
    const sidecar = { from: sidecarOf(tape), to: sidecarOf(output) };
    // The tape is moved last, so that the others are there when it appears.
    moveAll([...(existsSync(sidecar.from) ? [sidecar] : []), { from: tape, to: output }], draft);
    return written;
  });
}

/** Moves bodies. The name of a body is its hash, so an existing one has the same content. */
async function moveBodies(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name));
}
