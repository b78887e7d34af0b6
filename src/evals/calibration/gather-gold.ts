import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { requireKept } from "../../engine/runs/delete-run.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { LeftOut } from "../../protocol/evals/judge-certificate-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import { goldOf } from "../../statistics/gold.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store } from "../../store/port/store.ts";
import { adjudicatedAmong } from "../override/score-judgments.ts";
import { evalPlanOf } from "../run/eval-plan.ts";
import { type FoundGold, type GoldItem, type GoldPeople, GoldRoom } from "./gold-item.ts";
import { goldOfEval, goldOfTape } from "./gold-of-run.ts";
import { rubricKey, rubricsByTask, rubricsOf, type SuiteRubric } from "./judge-certification.ts";

export interface GoldAsked {
  readonly suite: AgentEvalSuite;
  readonly runIds: readonly string[];
  /** The task whose rubric judges tapes. */
  readonly taskId?: string;
  /** Take imported judgments too; see `EvalServices`. */
  readonly importedGold?: true | undefined;
}

export interface GatheredGold {
  /** In the order of their ids. */
  readonly items: readonly (GoldItem & { readonly gold: string })[];
  readonly disputed: number;
  readonly leftOut: readonly { readonly reason: LeftOut; readonly count: number }[];
  readonly rubrics: { readonly suite: number; readonly judged: number };
  readonly people: GoldPeople;
}

/** Labels by people of outputs in these runs. Throws for a run that cannot have any. */
export async function gatherGold(
  host: Pick<Host, "store">,
  visible: Visibility,
  asked: GoldAsked,
): Promise<GatheredGold> {
  const found: FoundGold[] = [];
  const room = new GoldRoom();
  for (const runId of asked.runIds) found.push(await goldOfRun(host, visible, asked, runId, room));
  const { items, disputed } = goldOf(found.flatMap(({ judgments }) => judgments));
  const byId = new Map(found.flatMap((one) => one.items.map((item) => [item.itemId, item])));
  const known = items.flatMap(({ itemId, gold }) => {
    const item = byId.get(itemId);
    return item === undefined ? [] : [{ ...item, gold }];
  });
  return {
    items: known,
    disputed: disputed.length,
    leftOut: counted(found.flatMap(({ leftOut }) => leftOut)),
    rubrics: { suite: rubricsOf(asked.suite).length, judged: new Set(known.map(rubricKey)).size },
    people: {
      judgedBy: namesIn(found.flatMap(({ people }) => people.judgedBy)),
      withdrawnOf: namesIn(found.flatMap(({ people }) => people.withdrawnOf)),
    },
  };
}

function namesIn(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

async function goldOfRun(
  host: Pick<Host, "store">,
  visible: Visibility,
  { suite, taskId, importedGold }: GoldAsked,
  runId: string,
  room: GoldRoom,
): Promise<FoundGold> {
  const run = await visibleRun(host as Host, visible, runId);
  if (!isTerminal(run.status)) {
    const problem = `it has not ended, and what is judged of it may still change; it is ${run.status}`;
    throw new AppError("run_state_conflict", { runId, runStatus: run.status, problem });
  }
  const stored = await annotationsOf(host.store, runId);
  await requireKept(host.store, run);
  const annotations = importedGold ? stored.map(({ importedBy: _, ...record }) => record) : stored;
  const adjudicated = await adjudicatedAmong(host.store, visible.tenant, annotations);
  const rubrics = rubricsByTask(suite);
  if (isRecorded(run)) {
    return goldOfTape(host, visible, run, rubricForTapes(suite, rubrics, taskId), annotations, adjudicated, room);
  }
  const plan = planOf(run);
  if (plan.suiteId !== suite.suiteId) {
    throw validationError(`${runId} is an evaluation with suite ${plan.suiteId}, and not with ${suite.suiteId}`);
  }
  return goldOfEval(host, run, plan, rubrics, annotations, adjudicated, room);
}

function planOf(run: Run) {
  const plan = evalPlanOf(run);
  if (plan !== undefined) return plan;
  throw validationError(`${run.runId} is neither an evaluation nor an imported tape`);
}

function rubricForTapes(
  suite: AgentEvalSuite,
  rubrics: ReadonlyMap<string, SuiteRubric>,
  taskId: string | undefined,
): SuiteRubric & { readonly taskId: string } {
  const [first] = rubrics.keys();
  const chosen = taskId ?? (rubricsOf(suite).length === 1 ? first : undefined);
  const rubric = chosen === undefined ? undefined : rubrics.get(chosen);
  if (chosen !== undefined && rubric !== undefined) return { ...rubric, taskId: chosen };
  const named = [...rubrics.keys()].slice(0, 10).join(", ");
  throw validationError(
    taskId === undefined
      ? `suite ${suite.suiteId} has several rubrics; name the task whose rubric the tape is judged by: ${named}`
      : `task ${taskId} of suite ${suite.suiteId} has no rubric; these have one: ${named}`,
  );
}

const PAGE = 500;

async function annotationsOf(store: Pick<Store, "annotationsOfRun">, runId: string): Promise<AnnotationRecord[]> {
  const all: AnnotationRecord[] = [];
  for (;;) {
    const page = await store.annotationsOfRun(runId, all.at(-1), PAGE);
    all.push(...page);
    if (isLastPage(page, PAGE)) return all;
  }
}

function counted(reasons: readonly LeftOut[]): GatheredGold["leftOut"] {
  const counts = new Map<LeftOut, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => (a.reason < b.reason ? -1 : 1));
}
