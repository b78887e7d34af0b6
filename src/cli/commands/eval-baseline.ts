import { AppError } from "../../protocol/errors.ts";
import type { EvalBaseline } from "../../protocol/eval-baseline.ts";
import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import type { EvalHome } from "../evals/eval-home.ts";
import { printable } from "../printable.ts";
import type { BASELINE_SET_FLAGS } from "../specs/eval.ts";
import { formatTable } from "../table.ts";

export async function baselineSet(call: Call<typeof BASELINE_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [name = "", runId] = args;
  if (flags.latest === (runId !== undefined)) throw refuse("name a RUN, or use --latest");
  if (flags.suite !== undefined && !flags.latest) throw refuse("--suite goes with --latest");
  const set = await withHome(call, async (home) => {
    const chosen = runId ?? (await latest(home, flags.suite));
    const { suiteId } = await home.entry(chosen);
    return home.setBaseline(suiteId, name, chosen);
  });
  if (json) io.out(JSON.stringify(set));
  else io.out(printable(textOf(set)));
}

async function latest(home: EvalHome, suiteId: string | undefined): Promise<string> {
  let cursor: string | undefined;
  do {
    const query = { status: "completed", limit: 1, ...(suiteId === undefined ? {} : { suiteId }) } as const;
    const page = await home.list(cursor === undefined ? query : { ...query, cursor });
    const [newest] = page.evals;
    if (newest !== undefined) return newest.runId;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  throw refuse(`there is no evaluation that has completed${suiteId === undefined ? "" : ` with suite ${suiteId}`}`);
}

function textOf({ suiteId, suiteVersion, name, runId, passedCount, taskCount, replacedRunId }: EvalBaseline): string {
  const before = replacedRunId === undefined ? "" : `, in place of ${replacedRunId}`;
  return `${name} of ${suiteId}@${suiteVersion} is ${runId} (${passedCount} of ${taskCount} tasks passed)${before}`;
}

export async function baselineList(call: Call): Promise<undefined> {
  const { json, io } = call;
  const baselines = await withHome(call, allBaselines);
  if (json) io.out(JSON.stringify({ baselines }));
  else if (baselines.length === 0) io.err("No baselines yet. Set one with: assay eval baseline set NAME --latest");
  else {
    const rows = baselines.map(({ suiteId, suiteVersion, name, runId, passedCount, taskCount, setBy, setAt }) =>
      [
        name,
        `${suiteId}@${suiteVersion}`,
        runId,
        `${passedCount}/${taskCount}`,
        setBy,
        setAt.slice(0, 19).replace("T", " "),
      ].map(printable),
    );
    io.out(formatTable(["NAME", "SUITE", "RUN", "PASSED", "SET BY", "SET AT"], rows, io.paint));
  }
}

async function allBaselines(home: EvalHome): Promise<EvalBaseline[]> {
  const all: EvalBaseline[] = [];
  let cursor: string | undefined;
  do {
    const page = await home.baselines(cursor);
    all.push(...page.baselines);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

export async function baselineRemove(call: Call): Promise<undefined> {
  const { args, json, io } = call;
  const [suiteId = "", name = ""] = args;
  await withHome(call, (home) => home.removeBaseline(suiteId, name));
  io.out(
    json ? JSON.stringify({ suiteId, name, removed: true }) : printable(`${name} of ${suiteId} is no baseline now`),
  );
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
