import type { RoleDefinitionWrite } from "../port/gates.ts";
import type { KeyWrite, Unit } from "../port/store.ts";
import { keyRow } from "../rows/rows.ts";
import { apiKeys, roleBindings, roleDefinitions } from "../schema/identity.ts";
import { artifacts } from "../schema/runs.ts";
import { replacing } from "../schema/table.ts";
import { workflowHeads, workflows } from "../schema/workflows.ts";
import { prepared } from "./prepared.ts";
import { insertInto, newest, type Statement, sorted, statement } from "./statements.ts";

/** Definitions, artifacts, keys and roles: nothing a unit could be refused for. */
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
