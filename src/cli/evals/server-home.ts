import { refText } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import { type Client, type ClientSettings, connect } from "../client/client.ts";
import { serverJudge } from "../judges/server-judge.ts";
import { agentIds, suitesOf } from "../program/known-names.ts";
import { followRun } from "../runs/follow-run.ts";
import { readableReport } from "./earlier-report.ts";
import type { EvalHome } from "./eval-home.ts";

/** Evaluations on a server. */
export function serverHome(settings: ClientSettings): EvalHome {
  const client = connect(settings);
  return {
    keepSuite: async ({ suite, text }) => {
      await client.suites.put(refText(suite), text);
      return undefined;
    },
    suite: async (ref) => client.suites.get(ref),
    suites: () => suitesOf(client),
    agentIds: () => agentIds(client),
    // A server goes on by itself with what was interrupted.
    goOn: async () => {},
    start: async (request) => (await client.runs.start({ mode: "eval", ...request })).runId,
    untilEnded: (runId, told, signal) => untilEnded(client, runId, told, signal),
    cancel: async (runId) => {
      await client.runs.cancel(runId);
    },
    afterInterrupt: "goes on",
    isInterrupted: async () => false,
    entry: async (runId) => client.evals.get(runId),
    report: (runId) => reportFrom(client, runId),
    task: async (runId, taskId) => client.evals.task(runId, taskId),
    list: async (query) => client.evals.list(query),
    baseline: async (suiteId, name) => client.evals.baseline(suiteId, name),
    baselines: async (cursor) => client.evals.baselines({ limit: 200, cursor }),
    judgeTask: async (runId, taskId, request) => client.evals.judgeTask(runId, taskId, request),
    addFrom: async (request) => client.suites.addFromRun(request),
    taskLinks: async (query) => client.suites.links(query),
    setBaseline: async (suiteId, name, request) => client.evals.setBaseline(suiteId, name, request),
    exportBaseline: async (suiteId, name) => client.evals.exportBaseline(suiteId, name),
    keepBaselineFile: async (file) => void (await client.evals.keepBaselineFile(file.sha256, file)),
    removeBaseline: async (suiteId, name) => client.evals.removeBaseline(suiteId, name),
    judge: serverJudge(client),
    close: async () => {},
  };
}

/** With what was said in the evaluation, for a key that may read it; figures only for others. */
async function reportFrom({ evals }: Client, runId: string): Promise<EvalReport> {
  try {
    return readableReport(await evals.report(runId, { content: "true" }));
  } catch (error) {
    if (!(error instanceof AppError && error.code === "forbidden")) throw error;
    return readableReport(await evals.report(runId));
  }
}

async function untilEnded(
  client: Client,
  runId: string,
  told: ((scored: number) => void) | undefined,
  signal: AbortSignal,
): Promise<void> {
  let scored = 0;
  const onEvent = ({ type }: { type: string }) => {
    if (type !== "eval.scored") return;
    scored += 1;
    told?.(scored);
  };
  await followRun(client, { runId, mode: "updates", onEvent, signal });
  signal.throwIfAborted();
}
