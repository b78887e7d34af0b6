import { defined } from "../../protocol/defined.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { queryInstant } from "../../protocol/instant.ts";
import type {
  FeedbackGrouping,
  FeedbackGroupKey,
  FeedbackSummary,
  FeedbackSummaryQuery,
} from "../../protocol/judgments/feedback-api.ts";
import type { AnnotationRecord, FeedbackQuery, FeedbackRow, RecountedRuns } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { serializeFor } from "../shared/serialize.ts";
import { Mutes } from "../tapes/mutes.ts";
import { ownTurn } from "../worker/pauses.ts";
import { feedbackFigures } from "./feedback-figures.ts";

/** How the runs were judged that ended within the time asked about; without `groupBy` only the total. One at a time for each tenant. */
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

/** The tallies that the store keeps know of no mutes; those of runs with muted judgments are counted again without them. */
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
  for (const row of rows) {
    const group = byKey.get(row.key);
    if (group === undefined) byKey.set(row.key, [row]);
    else group.push(row);
  }
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
      // No id of a workflow has a space in it.
      const space = key.indexOf(" ");
      return { workflowId: key.slice(0, space), nodeId: key.slice(space + 1) };
    }
    case "day":
      return { day: key };
  }
}
