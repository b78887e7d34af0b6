import { AppError } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { orNearest } from "../program/nearest-name.ts";
import { baselineText } from "./baseline-text.ts";
import { withBackend } from "./choose-backend.ts";
import type { BASELINE_SET_FLAGS } from "./eval-baseline-commands.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { allBaselines, namedBaseline } from "./named-baseline.ts";

export async function baselineSet(call: Call<typeof BASELINE_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [name = "", runId] = args;
  if (flags.latest === (runId !== undefined)) throw refuse("name a RUN, or use --latest");
  const isLatest = flags.latest || runId === LATEST;
  if (flags.suite !== undefined && !isLatest) throw refuse("--suite goes with --latest");
  const set = await withBackend(call, async ({ client }) => {
    const ofSuite = flags.suite === undefined ? {} : { suiteId: flags.suite };
    const chosen = await evalNamed(client, runId ?? LATEST, { status: "completed", ...ofSuite });
    const { suiteId } = await client.evals.get(chosen);
    return client.evals.setBaseline(suiteId, name, { runId: chosen });
  });
  if (json) io.out(JSON.stringify(set));
  else io.out(printable(baselineText(set)));
}

export async function baselineList(call: Call): Promise<undefined> {
  const { json, io } = call;
  const baselines = await withBackend(call, ({ client }) => allBaselines(client), { reads: true });
  if (json) io.out(JSON.stringify({ baselines }));
  else if (baselines.length === 0) io.err("No baselines yet. Set one with: assay eval baseline set NAME --latest");
  else {
    const rows = baselines.map(
      ({ suiteId, suiteVersion, name, runId, passedCount, taskCount, setBy, setAt, imported }) =>
        [
          name,
          `${suiteId}@${suiteVersion}`,
          imported === undefined ? runId : `${runId} (imported)`,
          `${passedCount}/${taskCount}`,
          setBy,
          setAt.slice(0, 19).replace("T", " "),
        ].map(printable),
    );
    io.out(formatTable(["NAME", "SUITE", "RUN", "PASSED", "SET BY", "SET AT"], rows, io.paint));
  }
}

export async function baselineRemove(call: Call): Promise<undefined> {
  const { args, json, io } = call;
  const [suiteId = "", name = ""] = args;
  await withBackend(call, ({ client }) =>
    orNearest(client.evals.removeBaseline(suiteId, name), { baseline: namedBaseline(client, suiteId, name) }),
  );
  io.out(
    json ? JSON.stringify({ suiteId, name, removed: true }) : printable(`${name} of ${suiteId} is no baseline now`),
  );
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
