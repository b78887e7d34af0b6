import { randomUUID } from "node:crypto";
import { refText } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import { taskBodiesPath } from "../../protocol/evals/eval-task-bodies.ts";
import type { CreateRunResponse } from "../../protocol/runs/api.ts";
import { type Client, type ClientSettings, connect } from "../client/client.ts";
import { serverJudge } from "../judges/server-judge.ts";
import { agentIds, suitesOf } from "../program/known-names.ts";
import { followRun } from "../runs/follow-run.ts";
import { type AnyReport, readableReport } from "./earlier-report.ts";
import type { EvalHome } from "./eval-home.ts";

const EVALS = "/v1/host/assay/evals";
const BASELINES = "/v1/host/assay/eval-baselines";
const FILES = "/v1/host/assay/eval-baseline-files";

/** Evaluations on a server. */
export function serverHome(settings: ClientSettings): EvalHome {
  const client = connect(settings);
  const named = (suiteId: string, name: string) =>
    `${BASELINES}/${encodeURIComponent(suiteId)}/${encodeURIComponent(name)}`;
  const of = (runId: string) => `${EVALS}/${encodeURIComponent(runId)}`;
  return {
    keepSuite: async ({ suite, text }) => {
      const ref = encodeURIComponent(refText(suite));
      await client.json(`/v1/host/assay/suites/${ref}`, { method: "PUT", body: text });
      return undefined;
    },
    suite: (ref) => client.json(`/v1/host/assay/suites/${encodeURIComponent(ref)}`),
    suites: () => suitesOf(client),
    agentIds: () => agentIds(client),
    // A server goes on by itself with what was interrupted.
    goOn: async () => {},
    start: async (request) => {
      // Should the answer be lost on its way, nothing is started twice.
      const headers = { "idempotency-key": randomUUID() };
      const body = { mode: "eval", ...request };
      const { runId } = await client.json<CreateRunResponse>("/v1/runs", { method: "POST", body, headers });
      return runId;
    },
    untilEnded: (runId, told, signal) => untilEnded(client, runId, told, signal),
    cancel: async (runId) => {
      await client.json(`/v1/runs/${encodeURIComponent(runId)}/cancel`, { method: "POST", body: {} });
    },
    afterInterrupt: "goes on",
    isInterrupted: async () => false,
    entry: (runId) => client.json(of(runId)),
    report: (runId) => reportFrom(client, `${of(runId)}/report`),
    task: (runId, taskId) => client.json(taskBodiesPath(runId, taskId)),
    list: (query) => client.json(EVALS, { query }),
    baseline: (suiteId, name) => client.json(named(suiteId, name)),
    baselines: (cursor) => client.json(BASELINES, { query: { limit: 200, cursor } }),
    judgeTask: (runId, taskId, body) =>
      client.json(`${of(runId)}/tasks/${encodeURIComponent(taskId)}:judge`, { method: "POST", body }),
    addFrom: (body) => client.json("/v1/host/assay/suites:add-from", { method: "POST", body }),
    taskLinks: (query) => client.json("/v1/host/assay/suite-links", { query }),
    setBaseline: (suiteId, name, body) => client.json(named(suiteId, name), { method: "PUT", body }),
    exportBaseline: (suiteId, name) => client.json(`${named(suiteId, name)}/file`),
    keepBaselineFile: async (body) => void (await client.json(`${FILES}/${body.sha256}`, { method: "PUT", body })),
    removeBaseline: async (suiteId, name) => void (await client.text(named(suiteId, name), { method: "DELETE" })),
    judge: serverJudge(client),
    close: async () => {},
  };
}

/** With what was said in the evaluation, for a key that may read it; figures only for others. */
async function reportFrom(client: Client, path: string): Promise<EvalReport> {
  try {
    return readableReport(await client.json<AnyReport>(path, { query: { content: "true" } }));
  } catch (error) {
    if (!(error instanceof AppError && error.code === "forbidden")) throw error;
    return readableReport(await client.json<AnyReport>(path));
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
