import type { ActorKind, Signal } from "../protocol/judgments/annotation.ts";
import type { FeedbackSummaryQuery } from "../protocol/judgments/feedback-api.ts";
import { wilson } from "../statistics/wilson.ts";

/** What a test did, and nothing that a store made of it. */
export interface ModelRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly agentId: string | null;
  readonly workspace?: string;
  /** Absent while it goes on. */
  endedMs?: number;
  intervened: boolean;
  readonly judgments: ModelJudgment[];
}

export interface ModelJudgment {
  readonly annotationId: string;
  readonly actorKind: ActorKind;
  readonly signal: Signal;
  readonly aboutNode?: string;
  readonly imported?: true;
  live: boolean;
}

type Query = FeedbackSummaryQuery & { readonly workspace?: string };

/** A summary made the slow way: by looking at every judgment of every run. */
export function slowSummary(all: readonly ModelRun[], query: Query): unknown {
  const { from, to, workflowId, agentId, workspace, groupBy, nodeId } = query;
  const runs = all.filter(
    (run) =>
      run.endedMs !== undefined &&
      (from === undefined || run.endedMs >= Date.parse(from)) &&
      (to === undefined || run.endedMs < Date.parse(to)) &&
      (workflowId === undefined || run.workflowId === workflowId) &&
      (agentId === undefined || run.agentId === agentId) &&
      (workspace === undefined || run.workspace === workspace),
  );
  const isAbout = (judgment: ModelJudgment) => nodeId === undefined || judgment.aboutNode === nodeId;
  if (groupBy === undefined) return { total: figures(runs, isAbout), groups: [] };
  return { total: figures(runs, isAbout), groups: groupsOf(runs, groupBy, isAbout) };
}

function groupsOf(
  runs: readonly ModelRun[],
  groupBy: NonNullable<Query["groupBy"]>,
  isAbout: (judgment: ModelJudgment) => boolean,
): unknown[] {
  const keys = new Map<string, object>();
  for (const run of runs) {
    for (const key of keysOf(run, groupBy, isAbout)) keys.set(Object.values(key).join(" "), key);
  }
  return [...keys.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, key]) => {
      const { nodeId, ...ofRun } = key as { nodeId?: string };
      const members = runs.filter((run) => {
        const own = groupBy === "node" ? { workflowId: run.workflowId } : keysOf(run, groupBy, isAbout)[0];
        return JSON.stringify(own) === JSON.stringify(ofRun);
      });
      return { key, ...figures(members, (one) => isAbout(one) && (nodeId === undefined || one.aboutNode === nodeId)) };
    });
}

function keysOf(run: ModelRun, groupBy: NonNullable<Query["groupBy"]>, isAbout: (one: ModelJudgment) => boolean) {
  switch (groupBy) {
    case "workflow":
      return [{ workflowId: run.workflowId }];
    case "agent":
      return [{ agentId: run.agentId }];
    case "day":
      return [{ day: new Date(run.endedMs ?? 0).toISOString().slice(0, 10) }];
    case "node":
      return run.judgments
        .filter((one) => one.live && one.aboutNode !== undefined && isAbout(one))
        .map(({ aboutNode }) => ({ workflowId: run.workflowId, nodeId: aboutNode }));
  }
}

function figures(runs: readonly ModelRun[], isAbout: (judgment: ModelJudgment) => boolean) {
  const { intervals, ...people } = figuresBy(runs, "person", isAbout);
  const intervened = runs.filter((run) => run.intervened).length;
  return {
    ...people,
    interventionRate: rate(intervened, runs.length),
    intervals: { ...intervals, interventionRate: interval(intervened, runs.length) },
    agents: figuresBy(runs, "agent", isAbout),
    code: figuresBy(runs, "code", isAbout),
    imported: runs.flatMap(({ judgments }) => judgments.filter((one) => one.live && one.imported && isAbout(one)))
      .length,
  };
}

function figuresBy(runs: readonly ModelRun[], kind: ActorKind, isAbout: (judgment: ModelJudgment) => boolean) {
  const counts = (one: ModelJudgment) => one.live && !one.imported && one.actorKind === kind && isAbout(one);
  const counted = runs.map((run) => run.judgments.filter(counts));
  const all = counted.flat();
  const having = (holds: (one: ModelJudgment) => boolean) => counted.filter((said) => said.some(holds)).length;
  const ratings = all.flatMap(({ signal }) => (signal.kind === "rating" ? [signal.rating ?? 0] : []));
  const rated = counted.map((said) =>
    said.flatMap(({ signal }) => (signal.kind === "rating" ? [signal.rating ?? 0] : [])),
  );
  const means = rated.filter((stars) => stars.length > 0).map((stars) => stars.reduce((a, b) => a + b) / stars.length);
  const verdicts = counted.map((said) => said.flatMap(verdictOf)).filter((said) => said.length > 0);
  const positive = verdicts.filter((said) => said.filter(Boolean).length * 2 > said.length).length;
  const labels = new Map<string, number>();
  for (const { signal } of all) {
    const { kind, label = "" } = signal;
    if (kind === "label") labels.set(label, (labels.get(label) ?? 0) + 1);
  }
  const corrected = having(({ signal }) => signal.kind === "correction");
  const flagged = having(({ signal }) => signal.kind === "flag");
  return {
    runs: runs.length,
    annotatedRuns: having(() => true),
    annotations: all.length,
    ratings: {
      count: ratings.length,
      mean: means.length === 0 ? null : means.reduce((a, b) => a + b) / means.length,
      histogram: [1, 2, 3, 4, 5].map((stars) => ratings.filter((one) => one === stars).length),
    },
    ratedRuns: means.length,
    corrections: all.filter(({ signal }) => signal.kind === "correction").length,
    flags: all.filter(({ signal }) => signal.kind === "flag").length,
    labels: Object.fromEntries(labels),
    correctionRate: rate(corrected, runs.length),
    flagRate: rate(flagged, runs.length),
    accuracy: rate(positive, verdicts.length),
    judgedRuns: verdicts.length,
    judgedShare: rate(verdicts.length, runs.length),
    intervals: {
      correctionRate: interval(corrected, runs.length),
      flagRate: interval(flagged, runs.length),
      accuracy: interval(positive, verdicts.length),
    },
  };
}

function verdictOf({ signal }: ModelJudgment): boolean[] {
  if (signal.kind === "rating") return [(signal.rating ?? 0) >= 4];
  if (signal.kind === "label" && (signal.label === "pass" || signal.label === "fail")) return [signal.label === "pass"];
  return [];
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function interval(count: number, of: number) {
  const found = wilson(count, of);
  return found === null ? null : { count, of, ...found };
}

/** Sums of fractions depend on their order in the last digits, which no figure is about. */
export function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, one) => (typeof one === "number" ? Number(one.toFixed(9)) : one)));
}
