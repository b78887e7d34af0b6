import type { Change } from "../store.ts";
import type { Operation, Outcome } from "./operations.ts";
import type { StatementName } from "./statements.ts";

type Topic = "keys" | "webhooks" | "deliveries";

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
    work ||= outcome.work;
    for (const [statement] of operation.unit.writes) {
      const topic = TOPICS[statement];
      if (topic !== undefined) topics.add(topic);
    }
  }
  if (runIds.size === 0 && topics.size === 0 && !work) return undefined;
  const [keys, webhooks, deliveries] = [topics.has("keys"), topics.has("webhooks"), topics.has("deliveries")];
  return { runIds: [...runIds], work, keys, webhooks, deliveries };
}
