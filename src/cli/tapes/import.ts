import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { readTape, tapeUnreadable } from "../../formats/tapes/read-tape.ts";
import { isBodyHash } from "../../formats/tapes/tape.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ImportTapeResponse } from "../../protocol/tapes/api.ts";
import { type Client, connect } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { TAPE_IMPORT_FLAGS } from "./commands.ts";
import { bodiesOf, type Progress, watchedBytes } from "./files/tape-files.ts";
import { withTape } from "./files/unpack-bundle.ts";

type ImportCall = Call<typeof TAPE_IMPORT_FLAGS>;

export async function tapeImport(call: ImportCall): Promise<undefined> {
  const [path = ""] = call.args;
  const { answer, bodies, tape } = await withTape(path, (tape) => sendTape(call, tape));
  const { json, io } = call;
  if (json) {
    const { referenced } = answer.bodies;
    const result = { ...answer, bodies: { referenced, ...bodies, stored: bodies.stored.length } };
    return void io.out(JSON.stringify(result));
  }
  io.out(answer.runId);
  report(io, path, answer, bodies);
  const { runId } = answer;
  const next = tape === path ? `\`assay tape push ${printable(path)}\`` : "`assay tape push` when it is unpacked";
  io.err(`See it with \`assay run watch ${runId}\`; send annotations with ${next}.`);
  return undefined;
}

async function sendTape({ flags, config, io }: ImportCall, path: string) {
  const text = await tapeText(path, io);
  const client = connect(config);
  const body = { tape: text, name: flags.name ?? basename(path), ...defined({ agentId: flags.agent }) };
  const answer = await client.tapes.import(body);
  const bodies = await sendBodies(client, answer.runId, path, answer.bodies.missing, (text) => io.progress(text));
  return { answer, bodies, tape: path };
}

function report(io: Io, path: string, answer: ImportTapeResponse, bodies: SentBodies): void {
  const { created, records, scrubbed } = answer;
  const name = printable(path);
  io.err(
    created
      ? `${name}: imported, ${formatCount(records, "record")}.`
      : `${name} was imported before; nothing was changed.`,
  );
  if (created && scrubbed > 0) {
    io.err(`${formatCount(scrubbed, "text")} contained a possible secret, which the server removed.`);
  }
  if (bodies.stored.length > 0) io.err(`${formatCount(bodies.stored.length, "body")} sent.`);
  list(io, bodies.missing, "missing: neither the server nor the folder of the tape has it");
  list(io, bodies.withheld, "withheld: it contains a possible secret");
  for (const { hash, problem } of bodies.refused) io.err(`Body ${printable(hash)}: ${problem}`);
}

function list(io: Io, hashes: readonly string[], what: string): void {
  for (const hash of hashes) io.err(`Body ${printable(hash)} is ${what}.`);
}

/** The bodies that the server asked for, by their names. */
interface SentBodies {
  readonly stored: string[];
  /** On neither side. */
  readonly missing: string[];
  /** Not sent or not stored, because of a possible secret. */
  readonly withheld: string[];
  /** Refused by the server for another reason. */
  readonly refused: { readonly hash: string; readonly problem: string }[];
}

export async function sendBodies(
  client: Client,
  runId: string,
  tape: string,
  wanted: readonly string[],
  progress: (text: string) => void,
): Promise<SentBodies> {
  const sent: SentBodies = { stored: [], missing: [], withheld: [], refused: [] };
  for (const [i, hash] of wanted.entries()) {
    const body = await bodyOf(tape, hash);
    if (body === undefined) {
      sent.missing.push(hash);
      continue;
    }
    progress(`body ${i + 1} of ${wanted.length}`);
    try {
      await client.tapes.storeBody(runId, { hash, base64: body.toString("base64") });
      sent.stored.push(hash);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "tape_body_secret") sent.withheld.push(hash);
      else if (REFUSALS.has(error.code)) sent.refused.push({ hash, problem: error.message });
      else throw error;
    }
  }
  return sent;
}

const REFUSALS: ReadonlySet<string> = new Set(["tape_body_refused", "payload_too_large"]);

/** The body of a tape; undefined when there is none. A tape may name anything; only hashes are looked up. */
async function bodyOf(tape: string, hash: string): Promise<Buffer | undefined> {
  if (!isBodyHash(hash)) return undefined;
  const path = join(bodiesOf(tape), hash);
  try {
    return await readFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw tapeUnreadable(path, message);
  }
}

/** The text of a tape, which is checked first, so that its errors name the file and nothing is sent. */
export async function tapeText(path: string, io: Progress): Promise<string> {
  const pieces: Uint8Array[] = [];
  async function* kept() {
    for await (const piece of watchedBytes(path, io)) {
      pieces.push(piece);
      yield piece;
    }
  }
  await readTape(path, kept(), () => {});
  return Buffer.concat(pieces).toString("utf8");
}
