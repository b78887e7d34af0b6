import type { Host } from "../../engine/host.ts";
import type { CertificateBar, CertificateRecord } from "../../protocol/evals/judge-certificate-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { judgeCertification } from "../calibration/judge-certification.ts";
import type { Doubted } from "../override/fold-overrides.ts";
import { type OverriddenSummary as Overridden, overriddenSummary } from "../override/overridden.ts";
import { completedEval } from "../run/read-evals.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import type { EvidenceSources, OverriddenSummary } from "./evidence-reader.ts";

/** Judgments and certificates about evaluations of this host. */
export function evidenceSources(host: Host): EvidenceSources {
  return {
    overriddenSummary: async (visible, runId, doubted) => {
      const all = await overriddenSummary(host, visible, runId);
      if (doubted === undefined) return figuresOf(all);
      return worseOf(figuresOf(all), figuresOf(await overriddenSummary(host, visible, runId, doubted)));
    },
    certificateProblems: (visible, runId, bar, doubted) => certificateProblemsOf(host, visible, runId, bar, doubted),
  };
}

function figuresOf({ overridden, overriddenTasks }: Overridden): OverriddenSummary {
  const { aggregateScore, passed } = overridden;
  return { aggregateScore, passed, overridden: overriddenTasks.length };
}

/** Requesters cannot raise a score by their own judgment; a lower score of theirs counts. */
function worseOf(all: OverriddenSummary, byOthers: OverriddenSummary): OverriddenSummary {
  const helped = all.aggregateScore > byOthers.aggregateScore || (all.passed && !byOthers.passed);
  return helped ? { ...byOthers, ownLeftOut: true } : all;
}

/**
 * The problems of the judge that scored the evaluation, which may differ from today's judge. None where no score came from a
 * judge.
 */
export async function certificateProblemsOf(
  host: Host,
  visible: Visibility,
  runId: string,
  bar: CertificateBar,
  doubted?: Doubted,
): Promise<readonly string[]> {
  const { run, plan } = await completedEval(host, visible, runId);
  const suite = await suiteAsOf(host, run.owner.tenant, plan);
  const chosen = new Set(plan.taskIds);
  if (!suite.tasks.some(({ taskId, expected }) => expected.kind === "rubric" && chosen.has(taskId))) return [];
  const { problems, certificate } = await judgeCertification(host, visible, suite, plan.judge, bar);
  return [...problems.map(({ problem }) => problem), ...partialProblems(certificate, doubted)];
}

/**
 * A certificate does not count for a request by a person whose labels it rests on, nor where another principal may have used the
 * name of such a person. Certificates of earlier versions do not record these people, and count as before.
 */
function partialProblems(
  { judgedBy = [], withdrawnOf = [] }: Pick<CertificateRecord, "judgedBy" | "withdrawnOf"> = {},
  { interested, unconfirmed }: Doubted = { interested: [], unconfirmed: [] },
): string[] {
  const asking = judgedBy.filter((one) => interested.includes(one));
  const unsure = [...new Set([...judgedBy, ...withdrawnOf])].filter((one) => unconfirmed.includes(one));
  return [
    ...(asking.length === 0
      ? []
      : [`It rests on judgments of ${asking.join(", ")}, who asks for this: let another principal ask.`]),
    ...(unsure.length === 0
      ? []
      : [`It rests on judgments of ${unsure.join(", ")}, whom no other owner has confirmed.`]),
  ];
}
