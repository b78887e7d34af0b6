import { connect } from "../client/client.ts";
import { refuseExisting } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { TAPE_FROM_RUN_FLAGS } from "./commands/server.ts";
import { fetchSidecar, fetchTape } from "./files/fetch-tape.ts";
import { placeTape } from "./files/place-tape.ts";
import { bodiesOf, sidecarOf } from "./files/tape-paths.ts";

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
  const sidecar = annotated ? { annotations: sidecarOf(output) } : {};
  if (json) {
    io.out(JSON.stringify({ runId, tape: output, records, ...sidecar, bodies: bodies.length, missing, asItCame }));
    return;
  }
  for (const path of [output, ...Object.values(sidecar)]) io.out(printable(path));
  const beside =
    bodies.length === 0 ? "" : `, ${formatCount(bodies.length, "body")} in ${printable(bodiesOf(output))}/`;
  io.err(`${formatCount(records, "record")}${beside}.`);
  for (const hash of missing) io.err(`Body ${printable(hash)} is missing: the server does not have it.`);
  if (!asItCame) io.err("Secrets were taken out of this tape, so its digest is not the one that its annotations name.");
  if (annotated) io.err(`Send annotations back with \`assay tape push ${printable(output)} --run ${runId}\`.`);
}
