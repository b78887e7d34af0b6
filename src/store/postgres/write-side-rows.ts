import type { ArtifactsTable, RoleBindingsTable, WorkflowHeadsTable, WorkflowsTable } from "../sql/tables.ts";
import type { ArtifactWrite, KeyWrite, RoleBinding, Unit, WorkflowWrite } from "../store.ts";
import { newest, sorted } from "./row-order.ts";
import { insertInto, type Statement } from "./statements.ts";

/** Definitions, artifacts, keys and roles: nothing a unit could be refused for. */
export function writeSideRows(units: readonly Unit[]): Statement[] {
  const workflows = units.flatMap((unit) => unit.workflows ?? []);
  const artifacts = units.flatMap((unit) => (unit.artifacts ?? []).map((write) => artifactRow(unit.tenant, write)));
  const roles = units.flatMap((unit) => unit.roles ?? []).map(roleRow);
  return [
    ...insertWorkflows(sorted(workflows.map(workflowRow), (row) => [row.hash])),
    ...putWorkflowHeads(newest(workflows.map(workflowHeadRow), (row) => [row.tenant, row.workflow_id])),
    ...putArtifacts(newest(artifacts, (row) => [row.run_id, row.artifact_id])),
    ...units.flatMap((unit) => (unit.keys ?? []).map((write) => keyStatement(unit.tenant, write))),
    ...putRoles(newest(roles, (row) => [row.tenant, row.workspace, row.principal])),
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

const putRoles = insertInto(
  "role_bindings",
  { tenant: "text", workspace: "text", principal: "text", roles: "text" } as const,
  "on conflict (tenant, workspace, principal) do update set roles = excluded.roles",
);

function roleRow({ tenant, workspace = "", principal, roles }: RoleBinding): RoleBindingsTable {
  return { tenant, workspace, principal, roles: JSON.stringify(roles) };
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
      return { name: "put key", text: PUT_KEY, values: [keyId, hash, ...who, createdAtMs, expiresAtMs] };
    }
    case "revoke":
      return { name: "revoke key", text: REVOKE_KEY, values: [write.atMs, write.keyId, tenant] };
    case "used":
      return { name: "touch key", text: TOUCH_KEY, values: [write.atMs, write.keyId] };
  }
}
