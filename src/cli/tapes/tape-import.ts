import { basename } from "node:path";
import type { ImportTapeResponse } from "../../protocol/tapes/api.ts";
import { connect } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { TAPE_IMPORT_FLAGS } from "./commands/server.ts";
import { type SentBodies, sendBodies } from "./files/send-bodies.ts";
import { withTape } from "./files/unpacked-bundle.ts";
import { tapeText } from "./text/tape-text.ts";

type ImportCall = Call<typeof TAPE_IMPORT_FLAGS>;

export async function tapeImport(call: ImportCall): Promise<undefined> {
  const [path = ""] = call.args;
  const { answer, bodies, tape } = await withTape(path, (tape) => sendTape(call, tape));
  const { json, io } = call;
  if (json) {
    const { referenced } = answer.bodies;
    io.out(JSON.stringify({ ...answer, bodies: { referenced, ...bodies, stored: bodies.stored.length } }));
    return;
  }
  io.out(answer.runId);
  tell(io, path, answer, bodies);
  const { runId } = answer;
  const next = tape === path ? `\`assay tape push ${printable(path)}\`` : "`assay tape push` when it is unpacked";
  io.err(`See it with \`assay run watch ${runId}\`; send annotations with ${next}.`);
}

async function sendTape({ flags, config, io }: ImportCall, path: string) {
  const text = await tapeText(path, io);
  const client = connect(config);
  const body = {
    tape: text,
    name: flags.name ?? basename(path),
    ...(flags.agent === undefined ? {} : { agentId: flags.agent }),
  };
  const answer = await client.tapes.import(body);
  const bodies = await sendBodies(client, answer.runId, path, answer.bodies.missing, (text) => io.progress(text));
  return { answer, bodies, tape: path };
}

function tell(io: Io, path: string, answer: ImportTapeResponse, bodies: SentBodies): void {
  const { created, records, scrubbed } = answer;
  const name = printable(path);
  io.err(
    created
      ? `${name}: imported, ${formatCount(records, "record")}.`
      : `${name} was there already; nothing was changed.`,
  );
  if (created && scrubbed > 0) {
    io.err(`${formatCount(scrubbed, "text")} held what looks like a secret; it was taken out before it was stored.`);
  }
  if (bodies.stored.length > 0) io.err(`${formatCount(bodies.stored.length, "body")} sent along.`);
  list(io, bodies.missing, "missing: it is neither there nor beside the tape");
  list(io, bodies.withheld, "withheld: it holds what looks like a secret");
  for (const { hash, problem } of bodies.refused) io.err(`Body ${printable(hash)}: ${problem}`);
}

function list(io: Io, hashes: readonly string[], what: string): void {
  for (const hash of hashes) io.err(`Body ${printable(hash)} is ${what}.`);
}
