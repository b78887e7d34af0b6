import { parseSuiteRef, refText } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import type { CalibrateJudge } from "../../protocol/evals/judge-certificate-api.ts";
import { chosenHome } from "../evals/choose-home.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import { type NamedSuite, suiteGiven } from "../evals/suite-argument.ts";
import { dollars } from "../output/dollars.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { split } from "../program/name-list.ts";
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
    const home = await chosenHome(call);
    try {
      const note = suite.file === undefined ? undefined : await home.keepSuite(suite.loaded);
      if (note !== undefined) io.err(`assay: ${note}`);
      const suiteId = parseSuiteRef(suite.file === undefined ? suite.ref : refText(suite.loaded.suite)).suiteId;
      const judged: string[] = [];
      for (const one of named) judged.push(await evalNamed(home, one, { suiteId }));
      const brought: string[] = [];
      for (const files of tapes) brought.push(await bringTape(home.judge, files, io));
      const runIds = [...new Set([...judged, ...brought])];
      const runId = await home.judge.calibrate(requestOf(call, suite, runIds));
      await home.untilEnded(runId, undefined, signal).catch(async (error: unknown) => {
        if (signal.aborted) await home.cancel(runId);
        throw error;
      });
      const { status, certificateId, error } = await home.judge.ended(runId);
      if (certificateId === undefined) {
        io.err(printable(`error: ${runId} ${status}: ${error?.message ?? "it issued no certificate"}`));
        return EXIT.noVerdict;
      }
      const view = await home.judge.certificate(certificateId);
      io.out(json ? JSON.stringify(view) : certificateText(view, io.paint));
      return view.valid ? EXIT.fine : EXIT.negative;
    } finally {
      await home.close();
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
