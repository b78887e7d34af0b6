import type { AttemptOutcome, ExternalEventWrite, RoleDefinitionWrite, WebhookWrite } from "../port/gates.ts";
import type { Unit } from "../port/store.ts";
import { finishedColumns } from "../rows/attempt-rows.ts";
import { deliveryRow, externalEventRow, webhookRow } from "../rows/gate-rows.ts";
import type { InterruptChanges } from "../rows/interrupt-rows.ts";
import * as columns from "./gate-statements.ts";
import type { SqliteValue } from "./open-database.ts";
import type { ExternalEventCheck, Operation, Write } from "./operations.ts";

/** Roles, external events, webhooks and the outbox; the events are also what the unit depends on. */
export function flattenGates(unit: Unit, writes: Write[]): ExternalEventCheck[] {
  const { tenant } = unit;
  for (const role of unit.roleDefinitions ?? []) writes.push(roleWrite(tenant, role));
  for (const webhook of unit.webhooks ?? []) writes.push(...webhookWrites(tenant, webhook));
  for (const delivery of unit.deliveries ?? []) {
    writes.push(["insertDelivery", valuesOf(deliveryRow(tenant, delivery), columns.DELIVERY_COLUMNS)]);
  }
  return (unit.externalEvents ?? []).map((event) => {
    writes.push(externalEventWrite(event));
    return event.type === "put" ? { key: event.event, newAtMs: event.nowMs } : { key: event.key };
  });
}

export function flattenInterrupts({ interrupts, voted, dropped }: InterruptChanges, writes: Write[]): void {
  for (const row of interrupts) writes.push(["putInterrupt", valuesOf(row, columns.INTERRUPT_COLUMNS)]);
  for (const { interruptId, votes } of voted) {
    writes.push(["deleteVotes", [interruptId]]);
    for (const vote of votes) writes.push(["insertVote", valuesOf(vote, columns.VOTE_COLUMNS)]);
  }
  if (dropped === undefined) return;
  for (const name of ["deleteVotesOfRun", "deleteInterrupts"] as const) {
    writes.push([name, [dropped.runId, dropped.tenant]]);
  }
}

/** What an attempt came to. Nothing of it happens unless its owner still holds the delivery. */
export function flattenAttempt(attempt: AttemptOutcome): Extract<Operation, { kind: "guarded" }> {
  const { deliveryId, owner, webhook } = attempt;
  const finished = valuesOf(finishedColumns(attempt), columns.FINISHED_COLUMNS);
  const rest: Write[] = [];
  if (webhook !== undefined) {
    const { webhookId, failures, failingSinceMs = null, circuitUntilMs = null, disabledAtMs = null } = webhook;
    rest.push(["setWebhookHealth", [failures, failingSinceMs, circuitUntilMs, disabledAtMs, webhookId]]);
  }
  return { kind: "guarded", first: ["finishDelivery", [...finished, deliveryId, owner]], rest };
}

function roleWrite(tenant: string, write: RoleDefinitionWrite): Write {
  const role = [tenant, write.workspace ?? "", write.role];
  if (write.type === "delete") return ["deleteRoleDefinition", role];
  return ["putRoleDefinition", [...role, JSON.stringify(write.scopes)]];
}

function webhookWrites(tenant: string, write: WebhookWrite): Write[] {
  switch (write.type) {
    case "put":
      return [["putWebhook", valuesOf(webhookRow(write.webhook), columns.WEBHOOK_COLUMNS)]];
    case "delete":
      return [
        ["deleteUndelivered", [write.webhookId, tenant]],
        ["deleteWebhook", [write.webhookId, tenant]],
      ];
    case "enable":
      return [["enableWebhook", [write.webhookId, tenant]]];
  }
}

function externalEventWrite(write: ExternalEventWrite): Write {
  if (write.type === "put") {
    return ["putExternalEvent", valuesOf(externalEventRow(write.event), columns.EXTERNAL_EVENT_COLUMNS)];
  }
  const { tenant, workspace, correlationId, eventId } = write.key;
  return ["deliverExternalEvent", [write.answer, write.expiresAtMs, tenant, workspace, correlationId, eventId]];
}

function valuesOf<C extends string>(row: Readonly<Record<C, SqliteValue>>, names: readonly C[]): SqliteValue[] {
  return names.map((name) => row[name]);
}
