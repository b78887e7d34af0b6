import type { EvidenceAsked, EvidenceReader } from "../../agents/deployments/evidence.ts";
import type { Host } from "../../engine/host.ts";
import { makersOfPrincipals, unconfirmedPrincipals } from "../../engine/identity/key-origin.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { EvalSummary } from "../../protocol/evals/api.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { CertificateBar } from "../../protocol/evals/judge-certificate-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Condition } from "../../protocol/promotion/api.ts";
import type { Evidence } from "../../protocol/promotion/evidence.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { barOf } from "../calibration/judge-certification.ts";
import type { Doubted } from "../override/fold-overrides.ts";
import { EVAL_PLAN, type EvalPlan, evalPlanOf } from "../run/eval-plan.ts";
import { readOutcomes } from "../run/task-result.ts";
import { parseSuiteRef, plannedRef } from "../suite/suite-ref.ts";
import { suiteIfThere } from "../suite/suite-store.ts";
import { aboutConduct, aboutModes, aboutSurroundings } from "./conduct-conditions.ts";
import { aboutTasks, checkCoverage, condition } from "./coverage.ts";

/** Evidence about an evaluation in addition to its summary. A condition that needs an absent source fails. */
export interface EvidenceSources {
  /** The figures with what people overrode in them; doubted ones, such as who asks for something, can only make them worse. */
  overriddenSummary?(visible: Visibility, runId: string, doubted?: Doubted): Promise<OverriddenSummary>;
  /** Why the judge of the evaluation is not certified; nothing where it is. */
  certificateProblems?(
    visible: Visibility,
    runId: string,
    bar: CertificateBar,
    doubted?: Doubted,
  ): Promise<readonly string[]>;
}

export interface OverriddenSummary {
  readonly aggregateScore: number;
  readonly passed: boolean;
  /** How many tasks a person scored. */
  readonly overridden: number;
  /** Whether it would be better with the scores of those who are left out. */
  readonly ownLeftOut?: boolean;
}

/** One evaluation with the request that its conditions are checked for. */
interface Found extends EvidenceAsked {
  readonly runId: string;
  readonly run: Run;
  readonly plan: EvalPlan;
  readonly suite?: AgentEvalSuite;
}

export function evidenceReader(host: Pick<Host, "store" | "nowMs">, sources: EvidenceSources = {}): EvidenceReader {
  return {
    async suiteSha256({ tenant }, ref, coverage) {
      if (parseSuiteRef(ref).version === undefined) {
        throw validationError(`"${ref}" names no version; evidence is of one, as in id@1.0.0`);
      }
      const found = await suiteIfThere(host, tenant, ref);
      if (found === undefined) throw validationError(`there is no suite ${ref} here`);
      checkCoverage(found.suite, coverage);
      return found.info.sha256;
    },
    async read(asked) {
      const { evalRunId, required, visible } = asked;
      const named = nameCondition(evalRunId, required?.evalRunId);
      const runId = required?.evalRunId ?? evalRunId;
      if (!named.met || runId === undefined) return nothing(named);
      // Recorded before any judgment is read: later judgments make the unit be decided anew.
      const judgedUpTo = required?.acceptHumanOverrides === true ? await judgedSoFar(host, visible) : {};
      const run = await host.store.readRun(visible, runId);
      const plan = run === undefined ? undefined : evidencePlanOf(run);
      const kind = kindCondition(run, plan);
      if (run === undefined || plan === undefined || !kind.met) return nothing(named, kind);
      const suite = await suiteOf(host, visible, plan);
      const found: Found = { ...asked, runId, run, plan, ...defined({ suite }) };
      const ended = condition("evaluation ended", "completed", run.status, run.status === "completed");
      const results = ended.met ? await readOutcomes(host.store, visible.tenant, runId) : [];
      const conditions = [
        named,
        kind,
        ended,
        ...aboutAgent(found),
        ...aboutSuite(found),
        ...(suite === undefined ? [] : aboutModes(plan, suite, required?.evidence?.modes)),
        ...(suite === undefined ? [] : aboutSurroundings(plan, suite, results, required)),
        ...aboutAge(found, host.nowMs()),
        ...(ended.met ? aboutConduct(plan, results) : []),
        ...(ended.met ? await spokenFor("score", () => aboutScore(host, found, sources)) : []),
        ...(ended.met ? await spokenFor("judge certificate", () => aboutJudge(host, found, sources)) : []),
      ];
      return { conditions, preconditions: [{ runId, version: run.version, ...judgedUpTo }] };
    },
  };
}

async function judgedSoFar({ store }: Pick<Host, "store">, { tenant }: Visibility) {
  return { judgedUpTo: (await store.annotationHead(tenant)).seq };
}

function nothing(...conditions: readonly Condition[]): Evidence {
  return { conditions, preconditions: [] };
}

function nameCondition(given: string | undefined, fixed: string | undefined): Condition {
  const wanted = fixed === undefined ? "evalRunId of an evaluation" : `evaluation ${fixed}`;
  const found = given ?? (fixed === undefined ? "none named" : fixed);
  return condition("evaluation named", wanted, found, fixed === undefined ? given !== undefined : found === fixed);
}

/** Only evaluations by the host itself: a workflow registered under the name of evaluations is no evidence. */
export function evidencePlanOf(run: Run): EvalPlan | undefined {
  return run.workflowHash === EVAL_PLAN.hash && run.forkedFrom === undefined ? evalPlanOf(run) : undefined;
}

function kindCondition(run: Run | undefined, plan: EvalPlan | undefined): Condition {
  const found = run === undefined ? "no such run" : plan === undefined ? "another kind of run" : "an evaluation";
  return condition("evaluation found", "an evaluation of this tenant, and no fork of one", found, plan !== undefined);
}

function aboutAgent({ agent, plan }: Found): Condition[] {
  const { agentId, version, contentHash } = agent;
  return [
    condition("agent", agentId, plan.agentId, plan.agentId === agentId),
    condition("agent version", version, plan.resolvedAgentVersion, plan.resolvedAgentVersion === version),
    condition("agent content", contentHash, plan.agentHash, plan.agentHash === contentHash),
  ];
}

function aboutSuite({ plan, suite, required }: Found): Condition[] {
  const ref = plannedRef(plan);
  const covered = aboutTasks(plan, suite, required?.evidence);
  if (required?.suite === undefined) return [covered];
  const sha256 = required.suiteSha256 ?? "unknown";
  const isSame = sha256 === plan.suiteSha256;
  const found = isSame || required.suite !== ref ? plan.suiteSha256 : `${plan.suiteSha256}, other content of ${ref}`;
  return [
    condition("suite", required.suite, ref, required.suite === ref),
    condition("suite content", sha256, found, isSame),
    covered,
  ];
}

async function suiteOf(host: Pick<Host, "store">, { tenant }: Visibility, plan: EvalPlan) {
  const found = await suiteIfThere(host, tenant, plannedRef(plan));
  return found?.info.sha256 === plan.suiteSha256 ? found.suite : undefined;
}

function aboutAge({ required, run }: Found, nowMs: number): Condition[] {
  const { maxAgeSec } = required ?? {};
  if (maxAgeSec === undefined) return [];
  const ageSec = Math.max(0, (nowMs - Date.parse(run.endedAt ?? "")) / 1000);
  const found = Number.isNaN(ageSec) ? "not ended" : `${Math.floor(ageSec)} seconds`;
  return [condition("age", `at most ${maxAgeSec} seconds`, found, ageSec <= maxAgeSec)];
}

/** Evidence that cannot be read is an unmet condition with the reason. */
async function spokenFor(name: string, read: () => Promise<Condition[]>): Promise<Condition[]> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof AppError) || error.mayRetry) throw error;
    return [condition(name, "readable", error.message, false)];
  }
}

/**
 * The requesters and, where voters have to be independent, the creators of a principal that requests: at the gate both count as
 * one.
 */
async function doubtedFor(store: Host["store"], found: Found, places: "of the run" | "visible"): Promise<Doubted> {
  const { visible, run, askedBy = [], independentPeople = false } = found;
  if (!independentPeople) return { interested: askedBy, unconfirmed: [] };
  const makers = await makersOfPrincipals(store, visible.tenant, askedBy);
  const unconfirmed = await unconfirmedPrincipals(store, visible.tenant, (workspace) => {
    // Certificates rest on other runs, which may be in any visible place.
    const place = places === "visible" ? visible.workspace : run.owner.workspace;
    return workspace === undefined || workspace === place || (places === "visible" && place === undefined);
  });
  return { interested: [...new Set([...askedBy, ...makers])], unconfirmed };
}

async function aboutScore(
  { store }: Pick<Host, "store">,
  found: Found,
  sources: EvidenceSources,
): Promise<Condition[]> {
  const { required, run, visible, runId } = found;
  const accepts = required?.acceptHumanOverrides === true;
  if (!accepts)
    return [scoreCondition(required?.requiredPassScore, run.outputs as unknown as EvalSummary, "as scored")];
  if (sources.overriddenSummary === undefined) {
    return [condition("score", "with human overrides", "this host cannot read overrides", false)];
  }
  const { interested, unconfirmed } = await doubtedFor(store, found, "of the run");
  const summary = await sources.overriddenSummary(visible, runId, { interested, unconfirmed });
  const others = unconfirmed.length === 0 ? "" : ", and of principals that no other owner has confirmed";
  const leftOut = `, without those of ${interested.join(", ")}, who asks for this${others}`;
  const how = `with ${summary.overridden} human overrides${summary.ownLeftOut === true ? leftOut : ""}`;
  return [scoreCondition(required?.requiredPassScore, summary, how)];
}

function scoreCondition(
  wanted: number | undefined,
  { aggregateScore, passed }: Pick<EvalSummary, "aggregateScore" | "passed">,
  how: string,
): Condition {
  const found = `${aggregateScore} and ${passed ? "passed" : "not passed"}, ${how}`;
  if (wanted === undefined) return condition("score", "passed by the suite's own bar", found, passed === true);
  return condition("score", `at least ${wanted}`, found, aggregateScore >= wanted);
}

async function aboutJudge(
  { store }: Pick<Host, "store">,
  found: Found,
  sources: EvidenceSources,
): Promise<Condition[]> {
  const { required, visible, runId } = found;
  const bar = barOf(required?.requireCertificate);
  if (bar === undefined) return [];
  const doubted = await doubtedFor(store, found, "visible");
  const read = await sources.certificateProblems?.(visible, runId, bar, doubted);
  const problems = read ?? ["this host cannot read certificates"];
  const text = problems.length === 0 ? "valid" : problems.join(" ");
  return [condition("judge certificate", "valid now", text, problems.length === 0)];
}
