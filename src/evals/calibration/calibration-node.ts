import { totalCost, usageEvent } from "../../agents/invocation-events.ts";
import type { Host } from "../../engine/host.ts";
import type { EffectContext, EffectNodeType, NodeOutcome } from "../../engine/worker/node-type.ts";
import type { AuditDraft } from "../../protocol/audit/audit.ts";
import { defined } from "../../protocol/defined.ts";
import type { CertificateRecord } from "../../protocol/evals/judge-certificate-api.ts";
import { parse, Type } from "../../protocol/schema.ts";
import { calibrationReport } from "../../statistics/calibration.ts";
import { overspentText } from "../run/budget.ts";
import type { EvalServices } from "../run/eval-run.ts";
import { plannedRef } from "../suite/suite-ref.ts";
import { readSuite, withSuiteRoom } from "../suite/suite-store.ts";
import { allCertificates, certificateDocument, certificateOf } from "./certificate.ts";
import { CALIBRATION_NODE_TYPE, CalibrationPlan } from "./create-calibration.ts";
import { type GatheredGold, gatherGold } from "./gather-gold.ts";
import { certifiedJudge, recordedJudge } from "./judge-certification.ts";
import { type JudgedGold, judgeGold, type KeptVerdict, readVerdicts, verdictDocument } from "./judge-gold.ts";

/** A judge that gives no verdict on more than this has not been calibrated on what is left. */
const UNJUDGED_MAX = 0.05;

type Needs = Pick<Host, "store" | "nowMs" | "newId" | "scrubber">;

/** Runs a calibration and issues the certificate; resumes one that was interrupted. */
export function calibrationNode(host: Needs, services: () => EvalServices): EffectNodeType {
  return {
    kind: "effect",
    typeId: CALIBRATION_NODE_TYPE,
    hostOnly: true,
    summary: "Compares a judge with people. Made by calibrations; no workflow may use it.",
    config: Type.Object({}, { additionalProperties: false }),
    execute: (context) => calibrate(host, services(), context),
  };
}

async function calibrate(host: Needs, services: EvalServices, context: EffectContext): Promise<NodeOutcome> {
  const { run, signal } = context;
  const plan = parse(CalibrationPlan, run.variables["plan"], "plan");
  const work = () => calibratePlan(host, services, context, plan);
  return withSuiteRoom(host, run.owner.tenant, plannedRef(plan), signal, work);
}

async function calibratePlan(
  host: Needs,
  { judge, importedGold }: EvalServices,
  context: EffectContext,
  plan: CalibrationPlan,
): Promise<NodeOutcome> {
  const { run, signal } = context;
  const issued = await issuedBefore(host, context, plan);
  if (issued !== undefined) return certified(issued);
  const ref = plannedRef(plan);
  const { suite, info } = await readSuite(host, run.owner.tenant, ref);
  if (info.sha256 !== plan.suiteSha256)
    return failed("eval_suite_changed", `Suite ${ref} is not the one it began with.`);
  const now = judge === undefined ? undefined : recordedJudge(judge);
  if (judge === undefined || now?.modelSha256 !== plan.modelSha256 || now.promptSha256 !== plan.promptSha256) {
    return failed("eval_judge_changed", "The judge is not the one the calibration was started with.");
  }
  const { runIds, taskId, concurrency, budgetUsd } = plan;
  const gold = await gatherGold(host, run.owner, { suite, runIds, importedGold, ...defined({ taskId }) });
  const { runId } = run;
  const verdicts = new Map<string, KeptVerdict>();
  for (const kept of await readVerdicts(host.store, run.owner.tenant, runId)) verdicts.set(kept.itemId, kept);
  const result = await judgeGold(judge, gold.items, { runId, concurrency, budgetUsd, signal }, verdicts, (verdict) =>
    keep(host, context, verdict),
  );
  if (result.overspent !== undefined) {
    const why = overspentText(result.overspent, budgetUsd);
    const message = `The calibration stopped after ${verdicts.size} of ${gold.items.length} outputs: ${why}.`;
    return failed("judge_budget_exceeded", message);
  }
  const tooFew = unusable(host, result, gold);
  if (tooFew !== undefined) return tooFew;
  const atMs = host.nowMs();
  const options = { now: new Date(atMs).toISOString(), days: plan.days };
  const report = calibrationReport(result.judged, { seed: plan.seed });
  const costUsd = totalCost([...verdicts.values()].flatMap(({ usage }) => usage));
  const record: CertificateRecord = {
    certificateId: host.newId("cert"),
    suiteId: plan.suiteId,
    suiteVersion: plan.suiteVersion,
    runId,
    runIds: plan.runIds,
    issuedBy: plan.issuedBy,
    gold: { ...figuresOf(gold), unjudged: result.failures.length },
    judgedBy: [...gold.people.judgedBy],
    withdrawnOf: [...gold.people.withdrawnOf],
    ...defined({ costUsd }),
    certificate: certificateOf(report, certifiedJudge(judge.identity, suite), result.judged, options),
  };
  const audit: AuditDraft = {
    occurredAt: options.now,
    actor: plan.issuedBy,
    action: "judge.certified",
    target: record.certificateId,
    details: { suite: ref, runId, n: report.n, kappa: report.kappa.value },
  };
  const document = certificateDocument(run.owner, record, atMs);
  await context.append([], { documents: [{ type: "put", document }], audit: [audit] });
  return certified(record.certificateId);
}

/** The certificate is written before the run ends, so that a resume after a crash between the two finds it. */
async function issuedBefore(
  { store }: Needs,
  { run: { owner, runId } }: EffectContext,
  { suiteId }: CalibrationPlan,
): Promise<string | undefined> {
  const all = await allCertificates(store, owner, suiteId);
  return all.find((one) => one.runId === runId)?.certificateId;
}

/** Writes a verdict with its cost, in one commit. */
function keep(host: Needs, { run, node, append }: EffectContext, verdict: KeptVerdict): Promise<void> {
  const { failure, usage } = verdict;
  const scrubbed = failure && { failure: { ...failure, message: host.scrubber.scrubText(failure.message) } };
  const document = verdictDocument(run.owner.tenant, run.runId, host.nowMs(), { ...verdict, ...scrubbed });
  return append(
    usage.map((one) => usageEvent(node.id, one)),
    { documents: [{ type: "put", document }] },
  );
}

function certified(certificateId: string): NodeOutcome {
  return { type: "completed", outputs: { certificateId } };
}

function figuresOf({ items, disputed, leftOut, rubrics }: GatheredGold) {
  return { outputs: items.length, disputed, leftOut: leftOut.map((one) => ({ ...one })), rubrics };
}

/** Judges fail on what is hard to judge, so that what is left is not what people judged. */
function unusable(
  { scrubber }: Needs,
  { failures, judged }: JudgedGold,
  { items }: GatheredGold,
): NodeOutcome | undefined {
  if (judged.length > 0 && failures.length <= UNJUDGED_MAX * items.length) return undefined;
  const [first] = failures;
  if (first === undefined) return failed("judge_calibration_incomplete", "No output is left that people judged.");
  const why = scrubber.scrubText(first.message);
  const message = `The judge gave no verdict on ${failures.length} of ${items.length} outputs; first ${first.code}: ${why}.`;
  return failed("judge_calibration_incomplete", message);
}

function failed(code: string, message: string): NodeOutcome {
  return { type: "failed", error: { code, message, retryable: false } };
}
