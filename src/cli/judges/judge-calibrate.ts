import { parseSuiteRef, refText } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import type { CalibrateJudge } from "../../protocol/evals/judge-certificate-api.ts";
import { chosenBackend } from "../evals/choose-backend.ts";
import { cancelInterrupted } from "../evals/eval-backend.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import { type NamedSuite, suiteGiven } from "../evals/suite-argument.ts";
import { dollars, split } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { interruptible } from "../reviews/interruptible.ts";
import { bringTape, tapeFiles } from "./bring-tape.ts";
import { certificateText } from "./certificate-text.ts";
import type { CALIBRATE_FLAGS } from "./commands.ts";

type CalibrateCall = Call<typeof CALIBRATE_FLAGS>;

export async function judgeCalibrate(call: CalibrateCall): Promise<number> {
  const { args, flags, io, json } = call;
  const tapes = tapeFiles(flags.tape, flags.sidecar);
  const named = split(flags.run);
  if (tapes.length === 0 && named.length === 0) {
    throw new AppError("unusable_input", { problem: "name what people judged: --run RUN, or --tape FILE" });
  }
  const suite = await suiteGiven(args[0] ?? "", call);
  return interruptible(io, "The calibration was cancelled; no certificate was issued.", async (signal) => {
    const backend = await chosenBackend(call);
    const { client } = backend;
    try {
      const note = suite.file === undefined ? undefined : await backend.keepSuite(suite.loaded);
      if (note !== undefined) io.err(`assay: ${note}`);
      const suiteId = parseSuiteRef(suite.file === undefined ? suite.ref : refText(suite.loaded.suite)).suiteId;
      const judged: string[] = [];
      for (const one of named) judged.push(await evalNamed(client, one, { suiteId }));
      const brought: string[] = [];
      for (const files of tapes) brought.push(await bringTape(client, files, io));
      const runIds = [...new Set([...judged, ...brought])];
      const { runId } = await client.judges.calibrate(requestOf(call, suite, runIds));
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

function requestOf({ flags }: CalibrateCall, suite: NamedSuite, runIds: string[]): CalibrateJudge {
  const { task, days, seed, concurrency, budgetUsd } = flags;
  return {
    suite: suite.file === undefined ? suite.ref : refText(suite.loaded.suite),
    runIds,
    ...(task === undefined ? {} : { taskId: task }),
    ...(days === undefined ? {} : { days }),
    ...(seed === undefined ? {} : { seed }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(budgetUsd === undefined ? {} : { budgetUsd: dollars("--budget-usd", budgetUsd) }),
  };
}
