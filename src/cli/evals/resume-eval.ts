import { refText } from "../../evals/suite/suite-ref.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { AppError } from "../../protocol/errors.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { EvalBackend } from "./eval-backend.ts";
import { latestEval } from "./latest-eval.ts";
import type { NamedSuite } from "./suite-argument.ts";

/** Of an evaluation that goes on, these were said when it began. */
const SAID_BEFORE = [
  "baseline",
  "trials",
  "concurrency",
  "mode",
  "task",
  "failedIn",
  "retryErrors",
  "budgetUsd",
  "cache",
  "requireCertificate",
  "allowMissing",
  "reasoning",
] as const;

type SaidBefore = Readonly<Partial<Record<(typeof SAID_BEFORE)[number], unknown>>>;

export function checkResuming(flags: SaidBefore & { readonly resume: string | undefined }): void {
  if (flags.resume === undefined) return;
  const said = SAID_BEFORE.find((name) => isGiven(flags[name]));
  if (said === undefined) return;
  const flag = said.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  refuse(`--resume goes on as the evaluation was begun; leave --${flag} out`);
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** Goes on with an evaluation that was interrupted, with the same suite and the same agent; gives its id. */
export async function resumeEval(
  { client, goOn }: EvalBackend,
  named: string,
  { suite, suiteId, agentId }: { readonly suite: NamedSuite; readonly suiteId: string; readonly agentId: string },
): Promise<string> {
  const runId = named === "latest" ? await latestEval(client, { suiteId, status: "running" }) : named;
  if (runId === undefined) return refuse(`no evaluation with ${suiteId} was left unfinished`);
  const entry = await client.evals.get(runId);
  if (isTerminal(entry.status)) return refuse(`${runId} has ended; see it with: assay eval show ${runId}`);
  if (entry.agentId !== agentId) return refuse(`${runId} evaluates ${entry.agentId}, and not ${agentId}`);
  const begunWith = refText({ suiteId: entry.suiteId, version: entry.suiteVersion });
  const given = suite.file === undefined ? suite.ref : refText(suite.loaded.suite);
  if (given !== begunWith && given !== entry.suiteId)
    return refuse(`${runId} was begun with ${begunWith}, and not ${given}`);
  if (suite.file !== undefined) {
    const kept = await client.suites.get(begunWith);
    if (canonicalJson(kept) !== canonicalJson(suite.loaded.suite)) {
      return refuse(`${suite.file} has other tasks than ${runId} was begun with; evaluate it anew`);
    }
  }
  await goOn(runId);
  return runId;
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
