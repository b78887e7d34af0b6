import type { RoleDefinitionWrite } from "../port/gates.ts";
import type { ArtifactWrite, KeyWrite, RoleBinding, Unit, WorkflowWrite } from "../port/store.ts";
import type { ArtifactsTable, RoleBindingsTable, WorkflowHeadsTable, WorkflowsTable } from "../schema/tables.ts";
import { prepared } from "./prepared.ts";
import { newest, sorted } from "./row-order.ts";
import { insertInto, type Statement, update } from "./statements.ts";

/** Definitions, artifacts, keys and roles: nothing a unit could be refused for. */
export function writeSideRows(units: readonly Unit[]): Statement[] {
  const workflows = units.flatMap((unit) => unit.workflows ?? []);
  const artifacts = units.flatMap((unit) => (unit.artifacts ?? []).map((write) => artifactRow(unit.tenant, write)));
  const roles = units.flatMap((unit) => unit.roles ?? []);
  return [
    ...insertWorkflows(sorted(workflows.map(workflowRow), (row) => [row.hash])),
    ...putWorkflowHeads(newest(workflows.map(workflowHeadRow), (row) => [row.tenant, row.workflow_id])),
    ...putArtifacts(newest(artifacts, (row) => [row.run_id, row.artifact_id])),
    ...units.flatMap((unit) => (unit.keys ?? []).map((write) => keyStatement(unit.tenant, write))),
    ...keepRoles(newest(roles.map(roleRow), bindingKey)),
    ...putRoles(newest(roles.filter(setsRoles).map(roleRow), bindingKey)),
    ...setGroups(newest(roles.flatMap(groupRow), bindingKey)),
    ...units.flatMap((unit) => (unit.roleDefinitions ?? []).map((write) => roleStatement(unit.tenant, write))),
  ];
}

/** Immutable: a hash has the definition that came first. */
const insertWorkflows = insertInto(
  "workflows",
  { hash: "text", workflow_id: "text", definition: "text", created_at: "bigint" } as const,
  "on conflict (hash) do nothing",
);

function workflowRow({ hash, workflowId, definition, atMs }: WorkflowWrite): WorkflowsTable {
  return { hash, workflow_id: workflowId, definition, created_at: atMs };
}

const putWorkflowHeads = insertInto(
  "workflow_heads",
  { tenant: "text", workflow_id: "text", hash: "text", registered_at: "bigint" } as const,
  `on conflict (tenant, workflow_id) do update set hash = excluded.hash, registered_at = excluded.registered_at`,
);

function workflowHeadRow({ tenant, workflowId, hash, atMs }: WorkflowWrite): WorkflowHeadsTable {
  return { tenant, workflow_id: workflowId, hash, registered_at: atMs };
}

const putArtifacts = insertInto(
  "artifacts",
  {
    run_id: "text",
    artifact_id: "text",
    tenant: "text",
    artifact_type: "text",
    content_type: "text",
    body: "bytea",
    created_at: "bigint",
  } as const,
  `on conflict (run_id, artifact_id) do update set artifact_type = excluded.artifact_type,
    content_type = excluded.content_type, body = excluded.body, created_at = excluded.created_at
    where artifacts.tenant = excluded.tenant`,
);

function artifactRow(tenant: string, write: ArtifactWrite): ArtifactsTable {
  return {
    run_id: write.runId,
    artifact_id: write.artifactId,
    tenant,
    artifact_type: write.artifactType,
    content_type: write.contentType,
    body: write.body,
    created_at: write.atMs,
  };
}

const BINDING = { tenant: "text", workspace: "text", principal: "text", roles: "text" } as const;
const WHO = ["tenant", "workspace", "principal"] as const;

/** So that there is a row whose groups can be set where the roles stay as they are. */
const keepRoles = insertInto("role_bindings", BINDING, "on conflict (tenant, workspace, principal) do nothing");
const putRoles = update("role_bindings", BINDING, WHO);

function setsRoles({ roles }: RoleBinding): boolean {
  return roles !== undefined;
}

type BindingRow<C extends keyof RoleBindingsTable> = Pick<RoleBindingsTable, "tenant" | "workspace" | "principal" | C>;

function bindingKey({ tenant, workspace, principal }: BindingRow<never>): string[] {
  return [tenant, workspace, principal];
}

function roleRow({ tenant, workspace = "", principal, roles }: RoleBinding): BindingRow<"roles"> {
  return { tenant, workspace, principal, roles: JSON.stringify(roles ?? []) };
}

/** After the roles, so that there is a row to set them in. */
const setGroups = update(
  "role_bindings",
  { tenant: "text", workspace: "text", principal: "text", group_names: "text" } as const,
  WHO,
);

function groupRow({ tenant, workspace = "", principal, groups }: RoleBinding): BindingRow<"group_names">[] {
  return groups === undefined ? [] : [{ tenant, workspace, principal, group_names: JSON.stringify(groups) }];
}

const PUT_ROLE = `insert into role_definitions (tenant, workspace, role, scopes) values ($1, $2, $3, $4)
  on conflict (tenant, workspace, role) do update set scopes = excluded.scopes`;

const DELETE_ROLE = "delete from role_definitions where tenant = $1 and workspace = $2 and role = $3";

function roleStatement(tenant: string, write: RoleDefinitionWrite): Statement {
  const role = [tenant, write.workspace ?? "", write.role];
  if (write.type === "delete") return { ...prepared("delete role", DELETE_ROLE), values: role };
  return { ...prepared("put role", PUT_ROLE), values: [...role, JSON.stringify(write.scopes)] };
}

const PUT_KEY = `insert into api_keys
  (key_id, hash, tenant, workspace, principal, kind, scopes, label, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  on conflict (hash) do update set key_id = excluded.key_id, tenant = excluded.tenant,
    workspace = excluded.workspace, principal = excluded.principal, kind = excluded.kind, scopes = excluded.scopes,
    label = excluded.label, created_at = excluded.created_at, expires_at = excluded.expires_at, revoked_at = null`;

const REVOKE_KEY = "update api_keys set revoked_at = $1 where key_id = $2 and tenant = $3 and revoked_at is null";

const TOUCH_KEY = "update api_keys set last_used_at = greatest(last_used_at, $1) where key_id = $2";

/** One by one, because their order matters. They share the batch's round trip. */
function keyStatement(tenant: string, write: KeyWrite): Statement {
  switch (write.type) {
    case "put": {
      const { keyId, hash, workspace, principal, kind, scopes, label, createdAtMs, expiresAtMs } = write.key;
      const who = [write.key.tenant, workspace, principal, kind, JSON.stringify(scopes), label];
      return { ...prepared("put key", PUT_KEY), values: [keyId, hash, ...who, createdAtMs, expiresAtMs] };
    }
    case "revoke":
      return { ...prepared("revoke key", REVOKE_KEY), values: [write.atMs, write.keyId, tenant] };
    case "used":
      return { ...prepared("touch key", TOUCH_KEY), values: [write.atMs, write.keyId] };
  }
}
