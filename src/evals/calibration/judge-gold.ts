import type { Usage } from "../../agents/binding.ts";
import { totalCost } from "../../agents/invocation-events.ts";
import { allDocuments, type DocumentReads } from "../../engine/shared/all-documents.ts";
import { defined } from "../../protocol/defined.ts";
import type { JudgedItem } from "../../statistics/calibration.ts";
import type { Document } from "../../store/port/documents.ts";
import type { Judge, JudgeFailure } from "../judge/judge.ts";
import { Budget, type Overspent } from "../run/budget.ts";
import { meets, rubricScore } from "../score/task-bar.ts";
import type { GoldItem } from "./gold-item.ts";

type Gold = GoldItem & { readonly gold: string };

/** Both lists are in the order of the outputs, in whichever order the judge answered. */
export interface JudgedGold {
  readonly judged: readonly JudgedItem[];
  readonly failures: readonly JudgeFailure[];
  /** Set when the budget ended before all outputs had a verdict. */
  readonly overspent?: Overspent;
}

export interface Judging {
  readonly runId: string;
  readonly concurrency: number;
  readonly budgetUsd?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks the judge about every output without a verdict, some at a time. The judge does not see the labels of people. `verdicts` are
 * those of earlier attempts; `keep` makes one more durable.
 */
export async function judgeGold(
  judge: Judge,
  items: readonly Gold[],
  { runId, concurrency, budgetUsd, signal }: Judging,
  verdicts: Map<string, KeptVerdict>,
  keep: (verdict: KeptVerdict) => Promise<void>,
): Promise<JudgedGold> {
  const budget = new Budget(budgetUsd);
  for (const { usage } of verdicts.values()) budget.spend(totalCost(usage));
  const left = items.filter(({ itemId }) => !verdicts.has(itemId));
  const work = async (): Promise<void> => {
    while (left.length > 0 && budget.overspent() === undefined) {
      const item = left.shift() as Gold;
      const verdict = await asked(judge, runId, item, signal);
      budget.spend(totalCost(verdict.usage));
      await keep(verdict);
      verdicts.set(item.itemId, verdict);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(concurrency, left.length) }, work));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  const overspent = left.length === 0 ? undefined : budget.overspent();
  return { ...compared(items, verdicts), ...defined({ overspent }) };
}

async function asked(judge: Judge, runId: string, item: Gold, signal: AbortSignal): Promise<KeptVerdict> {
  const { itemId, taskId, trial, input, output, toolResults, rubric, bar } = item;
  const question = { runId, taskId, trial, input, output, toolResults, rubric, adversarial: false };
  const answer = await judge.judge(question, signal);
  const { usage } = answer;
  if (answer.type === "failed") return { itemId, failure: answer.error, usage };
  const score = rubricScore(
    rubric,
    answer.criteria.map(({ met }) => met),
  );
  return { itemId, verdict: meets(score, bar) ? "pass" : "fail", usage };
}

function compared(items: readonly Gold[], verdicts: ReadonlyMap<string, KeptVerdict>) {
  const judged: JudgedItem[] = [];
  const failures: JudgeFailure[] = [];
  for (const { itemId, gold } of items) {
    const { verdict, failure } = verdicts.get(itemId) ?? {};
    if (verdict !== undefined) judged.push({ itemId, gold, judge: verdict });
    else if (failure !== undefined) failures.push(failure);
  }
  return { judged, failures };
}

/** The judge's verdict on one output: a calibration that is resumed after a crash does not ask about these outputs again. */
export interface KeptVerdict {
  readonly itemId: string;
  readonly verdict?: "pass" | "fail";
  /** Set instead of a verdict. */
  readonly failure?: JudgeFailure;
  readonly usage: readonly Usage[];
}

function prefixOf(runId: string): string {
  return `${runId}/`;
}

export function verdictDocument(tenant: string, runId: string, atMs: number, kept: KeptVerdict): Document {
  return {
    tenant,
    kind: "calibration-verdict",
    key: `${prefixOf(runId)}${kept.itemId}`,
    runId,
    revision: 1,
    atMs,
    body: JSON.stringify(kept),
  };
}

export function readVerdicts(store: DocumentReads, tenant: string, runId: string): Promise<KeptVerdict[]> {
  const all = { prefix: prefixOf(runId) };
  return allDocuments(store, tenant, "calibration-verdict", all, ({ body }) => JSON.parse(body) as KeptVerdict);
}
