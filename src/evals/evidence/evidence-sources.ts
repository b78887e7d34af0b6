import type { Host } from "../../engine/host.ts";
import type { Visibility } from "../../protocol/identity.ts";
import type { CertificateBar } from "../../protocol/judge-certificate-api.ts";
import { judgeStanding } from "../calibration/judge-standing.ts";
import { overriddenSummary } from "../override/overridden-summary.ts";
import { completedEval } from "../run/completed-eval.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import type { EvidenceSources } from "./evidence-reader.ts";

/** What people and certificates say of evaluations of this host. */
export function evidenceSources(host: Host): EvidenceSources {
  return {
    overriddenSummary: async (visible, runId) => {
      const { overridden, overriddenTasks } = await overriddenSummary(host, visible, runId);
      const { aggregateScore, passed } = overridden;
      return { aggregateScore, passed, overridden: overriddenTasks.length };
    },
    certificateProblems: (visible, runId, bar) => certificateProblemsOf(host, visible, runId, bar),
  };
}

/** Of the judge that scored the evaluation, which may be another one than today's. Where none scored anything, there is none. */
export async function certificateProblemsOf(
  host: Host,
  visible: Visibility,
  runId: string,
  bar: CertificateBar,
): Promise<readonly string[]> {
  const { run, plan } = await completedEval(host, visible, runId);
  const ref = `${plan.suiteId}@${plan.suiteVersion}`;
  const suite = await suiteAsOf(host, run.owner.tenant, ref, plan.suiteSha256);
  const chosen = new Set(plan.taskIds);
  if (!suite.tasks.some(({ taskId, expected }) => expected.kind === "rubric" && chosen.has(taskId))) return [];
  const { problems } = await judgeStanding(host, visible, suite, plan.judge, bar);
  return problems.map(({ problem }) => problem);
}
