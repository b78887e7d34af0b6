import type { RoleDefinitionWrite, WebhookWrite } from "../port/gates.ts";
import type { KeyWrite, Unit } from "../port/store.ts";
import { runDeletes } from "../read/delete-run.ts";
import { deliveryRow } from "../rows/interrupt-rows.ts";
import { keyRow } from "../rows/rows.ts";
import { interrupts, interruptVotes } from "../schema/gates.ts";
import { apiKeys, roleBindings, roleDefinitions } from "../schema/identity.ts";
import { artifacts } from "../schema/runs.ts";
import { replacing } from "../schema/table.ts";
import { deliveries, webhooks } from "../schema/webhooks.ts";
import { workflowHeads, workflows } from "../schema/workflows.ts";
import type { PreparedUnit } from "../units/prepare-unit.ts";
import { insertInto, newest, prepared, type Statement, sorted, statement } from "./statements.ts";

/** Gates as they follow from the logs, then webhooks and their outbox. None of it can be a reason to refuse a unit. */
export function writeGateRows(units: readonly PreparedUnit[]): Statement[] {
  const changes = units.flatMap(({ runs }) => runs.map((run) => run.interrupts));
  const rows = changes.flatMap((change) => change.interrupts);
  const voted = newest(
    changes.flatMap((change) => change.voted),
    ({ interruptId }) => [interruptId],
  );
  const writes = units.flatMap(({ unit }) => (unit.webhooks ?? []).map((write) => ({ tenant: unit.tenant, write })));
  return [
    ...putInterrupts(newest(rows, (row) => [row.interrupt_id])),
    ...statement(
      DELETE_VOTES,
      voted.map(({ interruptId }) => interruptId),
    ),
    ...insertVotes(voted.flatMap(({ votes }) => votes)),
    ...changes.flatMap(({ dropped }) =>
      dropped === undefined ? [] : DROPS.flatMap((one) => statement(one, dropped.runId, dropped.tenant)),
    ),
    // Before any webhook: the end of an attempt locks the delivery, then the webhook.
    ...writes.flatMap(({ tenant, write }) =>
      write.type === "delete" ? statement(DELETE_UNDELIVERED, write.webhookId, tenant) : [],
    ),
    ...writes.flatMap(({ tenant, write }) => webhookStatements(tenant, write)),
    // In the order they came, because of two for the same event the first stays.
    ...insertDeliveries(
      units.flatMap(({ unit }) => (unit.deliveries ?? []).map((one) => deliveryRow(unit.tenant, one))),
    ),
  ];
}

const putInterrupts = insertInto(interrupts, replacing(interrupts, { where: "interrupts.run_id = excluded.run_id" }));
const insertVotes = insertInto(interruptVotes);
const DELETE_VOTES = prepared("delete votes", "delete from interrupt_votes where interrupt_id = any($1)");

const { deleteVotesOfRun, deleteInterrupts } = runDeletes({ run: "$1::text", tenant: "$2::text", last: "" });
const DROPS = [
  prepared("drop votes of run", deleteVotesOfRun),
  prepared("drop interrupts of run", deleteInterrupts),
] as const;

const putWebhooks = insertInto(webhooks, replacing(webhooks, { where: "webhooks.tenant = excluded.tenant" }));
const DELETE_WEBHOOK = prepared("delete webhook", "delete from webhooks where webhook_id = $1 and tenant = $2");
const DELETE_UNDELIVERED = prepared(
  "delete undelivered",
  "delete from deliveries where webhook_id = $1 and tenant = $2 and state = 'pending'",
);
const ENABLE_WEBHOOK = prepared(
  "enable webhook",
  `update webhooks set failures = 0, failing_since = null, circuit_until = null, disabled_at = null
  where webhook_id = $1 and tenant = $2`,
);

/** One by one, because their order matters. */
function webhookStatements(tenant: string, write: WebhookWrite): Statement[] {
  if (write.type === "put") return putWebhooks([webhooks.toRow(write.webhook)]);
  return statement(write.type === "delete" ? DELETE_WEBHOOK : ENABLE_WEBHOOK, write.webhookId, tenant);
}

/** Only for a webhook that is there and the tenant's own. */
const insertDeliveries = insertInto(
  deliveries,
  `where webhook_id = '' or exists (
    select 1 from webhooks where webhooks.webhook_id = given.webhook_id and webhooks.tenant = given.tenant)
  on conflict (webhook_id, run_id, sequence) do nothing`,
);

/** Definitions, artifacts, keys and roles. None of it can be a reason to refuse a unit. */
export function writeSideRows(units: readonly Unit[]): Statement[] {
  const definitions = units.flatMap((unit) => unit.workflows ?? []);
  const bodies = units.flatMap(({ tenant, artifacts: writes = [] }) =>
    writes.map((write) => artifacts.toRow({ ...write, tenant })),
  );
  const roles = units.flatMap((unit) => unit.roles ?? []);
  const bindings = (those: typeof roles) =>
    newest(
      those.map(({ workspace = "", roles = [], groups = [], ...one }) =>
        roleBindings.toRow({ ...one, workspace, roles, groups }),
      ),
      ({ tenant, workspace, principal }) => [tenant, workspace, principal],
    );
  return [
    ...insertWorkflows(sorted(definitions.map(workflows.toRow), (row) => [row.hash])),
    ...putWorkflowHeads(newest(definitions.map(workflowHeads.toRow), (row) => [row.tenant, row.workflow_id])),
    ...putArtifacts(newest(bodies, (row) => [row.run_id, row.artifact_id])),
    ...units.flatMap((unit) => (unit.keys ?? []).flatMap((write) => keyStatements(unit.tenant, write))),
    ...putRoles(bindings(roles.filter((binding) => binding.roles !== undefined))),
    ...putGroups(bindings(roles.filter((binding) => binding.groups !== undefined))),
    ...units.flatMap((unit) => (unit.roleDefinitions ?? []).flatMap((write) => roleStatements(unit.tenant, write))),
  ];
}

/** Immutable: a hash has the definition that came first. */
const insertWorkflows = insertInto(workflows, "on conflict (hash) do nothing");
const putWorkflowHeads = insertInto(workflowHeads, replacing(workflowHeads));
const putArtifacts = insertInto(artifacts, replacing(artifacts, { where: "artifacts.tenant = excluded.tenant" }));

const putRoles = insertInto(roleBindings, replacing(roleBindings, { columns: ["roles"] }));
const putGroups = insertInto(roleBindings, replacing(roleBindings, { columns: ["group_names"] }));

const putDefinition = insertInto(roleDefinitions, replacing(roleDefinitions));
const DELETE_DEFINITION = prepared(
  "delete role",
  "delete from role_definitions where tenant = $1 and workspace = $2 and role = $3",
);

function roleStatements(tenant: string, write: RoleDefinitionWrite): Statement[] {
  const { workspace = "", role } = write;
  if (write.type === "delete") return statement(DELETE_DEFINITION, tenant, workspace, role);
  return putDefinition([roleDefinitions.toRow({ tenant, workspace, role, scopes: write.scopes })]);
}

const putKey = insertInto(apiKeys, replacing(apiKeys, { by: ["hash"] }));
const REVOKE_KEY = prepared(
  "revoke key",
  "update api_keys set revoked_at = $1 where key_id = $2 and tenant = $3 and revoked_at is null",
);
const TOUCH_KEY = prepared(
  "touch key",
  "update api_keys set last_used_at = greatest(last_used_at, $1) where key_id = $2",
);

/** One by one, because their order matters. They share the batch's round trip. */
function keyStatements(tenant: string, write: KeyWrite): Statement[] {
  switch (write.type) {
    case "put":
      return putKey([keyRow(write.key)]);
    case "revoke":
      return statement(REVOKE_KEY, write.atMs, write.keyId, tenant);
    case "used":
      return statement(TOUCH_KEY, write.atMs, write.keyId);
  }
}
