import { type Change, NO_CHANGE } from "../port/store.ts";
import type { Operation, Outcome } from "./operations.ts";
import type { StatementName } from "./statements.ts";

type Topic = Exclude<keyof Change, "runIds" | "work">;

const TOPICS: Readonly<Partial<Record<StatementName, Topic>>> = {
  putKey: "keys",
  revokeKey: "keys",
  putRoles: "keys",
  setGroups: "keys",
  putRoleDefinition: "keys",
  deleteRoleDefinition: "keys",
  putWebhook: "webhooks",
  deleteWebhook: "webhooks",
  enableWebhook: "webhooks",
  insertDelivery: "deliveries",
  insertAnnotation: "annotations",
  changeAnnotation: "annotations",
  putQueue: "queues",
  putItem: "queues",
  fillItem: "queues",
  deleteItemsOfRun: "queues",
};

/** What a batch changed for those who follow runs, wait for work, cache or deliver; undefined when nothing. */
export function changeOf(operations: readonly Operation[], outcomes: readonly Outcome[]): Change | undefined {
  const runIds = new Set<string>();
  const topics = new Set<Topic>();
  let work = false;
  for (const [i, operation] of operations.entries()) {
    const outcome = outcomes[i];
    if (operation.kind !== "unit" || outcome?.kind !== "committed") continue;
    for (const run of operation.unit.runs) if (run.appends) runIds.add(run.runId);
    for (const { runId } of operation.unit.deletions) runIds.add(runId);
    work ||= outcome.work;
    for (const [statement] of operation.unit.writes) {
      const topic = TOPICS[statement];
      if (topic !== undefined) topics.add(topic);
    }
  }
  if (runIds.size === 0 && topics.size === 0 && !work) return undefined;
  const changed = Object.fromEntries([...topics].map((topic) => [topic, true]));
  return { ...NO_CHANGE, ...changed, runIds: [...runIds], work };
}
