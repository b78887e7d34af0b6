import { basename } from "node:path";
import { parseSuiteRef } from "../../evals/suite/suite-ref.ts";
import { sidecarUnreadable } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { fileLines, readRowLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Client } from "../client/client.ts";
import { cancelInterrupted, openBackend } from "../evals/backend.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import { refOf, suiteGiven } from "../evals/suite-argument.ts";
import { dollars, split } from "../files/arguments.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT, interruptible } from "../program/exit-codes.ts";
import { sidecarText } from "../tapes/files/read-review.ts";
import { sidecarOf } from "../tapes/files/tape-files.ts";
import { sendBodies, tapeText } from "../tapes/import.ts";
import { certificateText } from "./certificates.ts";
import type { CALIBRATE_FLAGS } from "./commands.ts";

export async function judgeCalibrate(call: Call<typeof CALIBRATE_FLAGS>): Promise<number> {
  const { args, flags, io, json } = call;
  const tapes = tapeFiles(flags.tape, flags.sidecar);
  const named = split(flags.run);
  if (tapes.length === 0 && named.length === 0) {
    throw unusableInput("name the judged runs or tapes: --run RUN, or --tape FILE");
  }
  const suite = await suiteGiven(args[0] ?? "", call);
  const { task: taskId, days, seed, concurrency, budgetUsd: amount } = flags;
  const budgetUsd = amount === undefined ? undefined : dollars("--budget-usd", amount);
  return interruptible(io, "The calibration was cancelled; no certificate was issued.", async (signal) => {
    const backend = await openBackend(call, "writes");
    const { client } = backend;
    try {
      const note = suite.file === undefined ? undefined : await backend.keepSuite(suite.loaded);
      if (note !== undefined) io.err(`assay: ${note}`);
      const ref = refOf(suite);
      const { suiteId } = parseSuiteRef(ref);
      const runs = new Set<string>();
      for (const one of named) runs.add(await evalNamed(client, one, { suiteId }));
      for (const files of tapes) runs.add(await importTape(client, files, io));
      const limits = defined({ taskId, days, seed, concurrency, budgetUsd });
      const { runId } = await client.judges.calibrate({ suite: ref, runIds: [...runs], ...limits });
      await backend.untilEnded(runId, undefined, signal).catch(async (error: unknown) => {
        if (signal.aborted) await cancelInterrupted(client, runId);
        throw error;
      });
      const { status, outputs, error } = await client.runs.get(runId);
      const certificateId = outputs?.["certificateId"];
      if (typeof certificateId !== "string") {
        io.err(printable(`error: ${runId} ${status}: ${error?.message ?? "it issued no certificate"}`));
        return EXIT.noVerdict;
      }
      const view = await client.judges.certificate(certificateId);
      io.out(json ? JSON.stringify(view) : certificateText(view, io.paint));
      return view.valid ? EXIT.fine : EXIT.negative;
    } finally {
      await backend.close();
    }
  });
}

interface TapeFiles {
  readonly tape: string;
  readonly sidecar: string;
}

/** Pairs tapes with sidecars in the order of the flags; without --sidecar each tape has its usual one. */
function tapeFiles(tapes: readonly string[], sidecars: readonly string[]): TapeFiles[] {
  if (sidecars.length > 0 && sidecars.length !== tapes.length) {
    throw unusableInput("name a --sidecar for each --tape, in the same order, or none");
  }
  return tapes.map((tape, i) => ({ tape, sidecar: sidecars[i] ?? sidecarOf(tape) }));
}

/** Imports a tape with its sidecar where its run does not exist yet. Returns the id of the run. */
async function importTape(client: Client, { tape, sidecar }: TapeFiles, io: Io): Promise<string> {
  const rows = await sidecarText(sidecar);
  if (rows === undefined) throw sidecarUnreadable(sidecar, "there is no such file");
  // Checked here as well: the server does not know the name of the file for its message.
  readRowLines(sidecar, fileLines(rows));
  const text = await tapeText(tape, io);
  const { runId, bodies } = await client.tapes.import({ tape: text, name: basename(tape) });
  const { stored } = await sendBodies(client, runId, tape, bodies.missing, io.progress);
  const missing = bodies.missing.length - stored.length;
  if (missing > 0) {
    const count = formatCount(missing, "body");
    io.err(`assay: ${printable(tape)}: ${count} cannot be imported; steps with them are left out.`);
  }
  await client.tapes.pushSidecar(runId, { sidecar: rows });
  return runId;
}
