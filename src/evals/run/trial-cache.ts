import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import type { EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import { taskBar } from "../score/task-bar.ts";
import type { EvalRun } from "./eval-run.ts";
import type { Scored } from "./score-trial.ts";

type Kind = EvalTask["expected"]["kind"];

/**
 * The cache key of a trial: everything its result depends on. Undefined where that is unknown or caching is off: programs and
 * endpoints change without notice, so they count only under a name that the caller gives.
 */
export function cacheKey(run: EvalRun, task: EvalTask, mode: EvalMode, trial: number): string | undefined {
  const { plan, agent, binding, services } = run;
  // Agents receive the name of their task too, and may answer by it.
  const { taskId, input, expected, fixtures } = task;
  if (!plan.cache || mode === "live-shadow") return undefined;
  const opaque = binding.kind === "command" || binding.kind === "http";
  const fingerprint = opaque ? undefined : binding.fingerprint;
  if (plan.agentLabel === undefined && fingerprint === undefined) return undefined;
  if (isJudgedByUnknown(run, mode, expected.kind)) return undefined;
  // A label does not replace the fingerprint: the agent may have changed under the same label.
  const version = [plan.agentLabel ?? null, fingerprint ?? null];
  const bar = taskBar(task, run.suite.thresholds);
  const scorer = { expected, bar, judge: isJudged(mode, expected.kind) ? (services.judge?.identity ?? null) : null };
  const agentId = agent.agentId;
  const asked = { taskId, input, fixtures: fixtures ?? null, mode, trial };
  // Results of one workspace are not shown in another.
  const workspace = run.owner.workspace ?? null;
  // Earlier versions kept no list of the tools that were asked, and offered programs and endpoints none.
  const parts = { format: 2, workspace, agentId, agentHash: agent.contentHash, version, ...asked, scorer };
  // A cached trial with stored reasoning is not used where reasoning must not be stored.
  const { reasoningVerbosity: verbosity = "full" } = plan;
  const kept = verbosity === "full" ? {} : { verbosity };
  const settings = { threshold: agent.confidenceThreshold ?? null, judged: services.judge !== undefined, ...kept };
  return sha256(canonicalJson(JSON.parse(JSON.stringify({ ...parts, settings }))));
}

/** A judge without a fingerprint: changes of it are not visible. */
function isJudgedByUnknown({ services: { judge } }: EvalRun, mode: EvalMode, kind: Kind): boolean {
  return judge !== undefined && isJudged(mode, kind) && judge.identity.fingerprint === undefined;
}

function isJudged(mode: EvalMode, kind: Kind): boolean {
  return kind === "rubric" || mode === "adversarial";
}

export async function cachedTrial({ host, owner }: EvalRun, key: string): Promise<Scored | undefined> {
  const found = await host.store.readDocument({ tenant: owner.tenant, kind: "eval-cache", key });
  if (found === undefined || (found.expiresAtMs ?? 0) <= host.nowMs()) return undefined;
  return JSON.parse(found.body) as Scored;
}

/** Only scored trials are cached: an error is to be tried again. */
export function keepTrial({ host, owner, services }: EvalRun, key: string, scored: Scored): DocumentWrite[] {
  if (scored.trial.score === undefined) return [];
  const atMs = host.nowMs();
  const expiresAtMs = atMs + services.settings.cacheMs;
  const body = JSON.stringify(scored);
  return [
    {
      type: "keep",
      document: { tenant: owner.tenant, kind: "eval-cache", key, revision: 1, atMs, expiresAtMs, body },
    },
  ];
}
