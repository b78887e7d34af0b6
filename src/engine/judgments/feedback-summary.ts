import { addTo } from "../../formats/text/collections.ts";
import { defined } from "../../protocol/defined.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { queryInstant } from "../../protocol/instant.ts";
import type { ActorKind } from "../../protocol/judgments/annotation.ts";
import type {
  ApartFigures,
  FeedbackFigures,
  FeedbackGrouping,
  FeedbackGroupKey,
  FeedbackSummary,
  FeedbackSummaryQuery,
  RateInterval,
} from "../../protocol/judgments/feedback-api.ts";
import { wilson } from "../../statistics/wilson.ts";
import {
  type AnnotationRecord,
  type FeedbackQuery,
  type FeedbackRow,
  NO_FEEDBACK,
  type RecountedRuns,
} from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { serializeFor } from "../shared/serialize.ts";
import { Mutes } from "../tapes/mutes.ts";
import { ownTurn } from "../worker/pauses.ts";

/** Figures about the judgments of runs that ended within a time; without `groupBy` only the total. One at a time for each tenant. */
export async function feedbackSummary(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  { workflowId, agentId, nodeId, from, to, groupBy }: FeedbackSummaryQuery,
): Promise<FeedbackSummary> {
  const query = {
    ...defined({ workflowId, agentId, nodeId }),
    ...(from === undefined ? {} : { fromMs: queryInstant("from", from) }),
    ...(to === undefined ? {} : { toMs: queryInstant("to", to) }),
    ...defined({ groupBy }),
  };
  return serializeFor(store, `summaries of ${visible.tenant}`, () => summaryOf(store, visible, query));
}

async function summaryOf(store: Store, visible: Visibility, query: FeedbackQuery): Promise<FeedbackSummary> {
  const { groupBy, ...whole } = query;
  const recounted = await recountMuted(store, visible, whole);
  const asked = recounted === undefined ? whole : { ...whole, recounted };
  const total = await store.feedbackSummary(visible, asked);
  await ownTurn();
  const groups =
    groupBy === undefined ? [] : groupsOf(await store.feedbackSummary(visible, { ...asked, groupBy }), groupBy);
  await ownTurn();
  return { total: feedbackFigures(total), groups };
}

/** The tallies of the store include muted judgments; runs with muted judgments are counted again without them. */
async function recountMuted(
  store: Store,
  visible: Visibility,
  { workflowId }: Pick<FeedbackQuery, "workflowId">,
): Promise<RecountedRuns | undefined> {
  const mutes = await Mutes.read(store, visible, workflowId === undefined ? {} : { workflowId });
  const [runIds, annotations]: [string[], AnnotationRecord[]] = [[], []];
  for (const runId of mutes.runIds) {
    const heard = await mutes.heardOn(runId);
    if (heard === undefined) continue;
    runIds.push(runId);
    for (const record of heard) annotations.push(record);
  }
  return runIds.length === 0 ? undefined : { runIds, annotations };
}

function groupsOf(rows: readonly FeedbackRow[], groupBy: FeedbackGrouping): FeedbackSummary["groups"] {
  const byKey = new Map<string, FeedbackRow[]>();
  for (const row of rows) addTo(byKey, row.key, row);
  // Sorted here, because databases do not agree on the order of texts.
  const keys = [...byKey.keys()].sort();
  return keys.map((key) => ({ key: keyOf(groupBy, key), ...feedbackFigures(byKey.get(key) ?? []) }));
}

function keyOf(groupBy: FeedbackGrouping, key: string): FeedbackGroupKey {
  switch (groupBy) {
    case "workflow":
      return { workflowId: key };
    case "agent":
      return { agentId: key === "" ? null : key };
    case "node": {
      // Ids of workflows have no spaces.
      const space = key.indexOf(" ");
      return { workflowId: key.slice(0, space), nodeId: key.slice(space + 1) };
    }
    case "day":
      return { day: key };
  }
}

/** The figures of one group: those of people, of agents and of code separately, and the number of imported judgments. */
export function feedbackFigures(rows: readonly FeedbackRow[]): FeedbackFigures {
  const [{ runs, intervened } = NO_FEEDBACK] = rows;
  const of = (kind: ActorKind) =>
    figuresOf({ ...(rows.find(({ actorKind }) => actorKind === kind) ?? NO_FEEDBACK), runs });
  const { intervals, ...people } = of("person");
  return {
    ...people,
    interventionRate: share(intervened, runs),
    intervals: { ...intervals, interventionRate: interval(intervened, runs) },
    agents: of("agent"),
    code: of("code"),
    imported: rows.find(({ actorKind }) => actorKind === "imported")?.annotations ?? 0,
  };
}

function figuresOf(row: FeedbackRow): ApartFigures {
  const { runs, histogram, ratedRuns, meanRatings, correctedRuns, flaggedRuns, judgedRuns, positiveRuns } = row;
  const { annotatedRuns, annotations, corrections, flags, labels, otherLabels } = row;
  const mean = ratedRuns === 0 ? null : meanRatings / ratedRuns;
  return {
    runs,
    annotatedRuns,
    annotations,
    ratings: { count: histogram.reduce((sum, n) => sum + n, 0), mean, histogram: [...histogram] },
    ratedRuns,
    corrections,
    flags,
    labels: { ...labels },
    ...(otherLabels === 0 ? {} : { otherLabels }),
    correctionRate: share(correctedRuns, runs),
    flagRate: share(flaggedRuns, runs),
    accuracy: share(positiveRuns, judgedRuns),
    judgedRuns,
    judgedShare: share(judgedRuns, runs),
    intervals: {
      correctionRate: interval(correctedRuns, runs),
      flagRate: interval(flaggedRuns, runs),
      accuracy: interval(positiveRuns, judgedRuns),
    },
  };
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : among(part, whole) / whole;
}

function interval(part: number, of: number): RateInterval {
  const count = among(part, of);
  const found = wilson(count, of);
  return found === null ? null : { count, of, ...found };
}

/** Bounds a part by its whole: runs may be deleted between two reads of a summary. */
function among(part: number, whole: number): number {
  return Math.min(part, whole);
}
