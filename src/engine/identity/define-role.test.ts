import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DefineRoleRequest, ListRolesResponse, RoleInfo } from "../../protocol/identity/api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { BUILT_IN_ROLES } from "../../protocol/identity/scopes.ts";
import { parse } from "../../protocol/schema.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { idempotencyOutcome, NOW } from "../../testing/builders.ts";
import { ADA } from "../../testing/engine.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { RecordedOutcome } from "../shared/once-only.ts";
import { defineRole, listRoles, MAX_ROLES, removeRole } from "./define-role.ts";
import type { KeyHost } from "./keys.ts";

let store: Store;
let host: KeyHost;

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = hostAt(store);
});
afterEach(() => store.close());

const as = (more: Partial<Caller>): Caller => ({ ...ADA, ...more });
const define = async (request: DefineRoleRequest, caller = ADA) =>
  parse(RoleInfo, await defineRole(host, { caller, request, record: () => undefined }), "role");
const own = async (caller = ADA, workspace?: string) =>
  parse(ListRolesResponse, await listRoles(host, caller, workspace), "roles").roles.filter((role) => !role.builtIn);
const audit = () => store.readAudit("t1", 1, 1000, 1000);
const forbidden = (scopeRequired: string, missingFrom: string) => ({
  code: "forbidden",
  details: { scopeRequired, missingFrom },
});

describe("the roles of a tenant", () => {
  test("are bounded in each place, and one of them is still replaced", async () => {
    const roleDefinitions = Array.from({ length: MAX_ROLES }, (_, n) => ({
      type: "put" as const,
      role: `r${n}`,
      scopes: [],
    }));
    await store.commit({ tenant: "t1", roleDefinitions });
    const refused = { code: "validation_error", details: { limit: MAX_ROLES } };
    await expect(define({ role: "one-more", scopes: [] })).rejects.toMatchObject(refused);
    await define({ role: "r1", scopes: ["runs:read"] });
    await define({ role: "one-more", scopes: [], workspace: "w1" });
    await removeRole(host, ADA, "r2");
    await define({ role: "one-more", scopes: [] });
  });

  test("are the built-in ones and then its own, by name", async () => {
    await define({ role: "zebra", scopes: ["runs:read", "runs:read"] });
    await define({ role: "Ant", scopes: [] });
    const { roles } = await listRoles(host, ADA);
    expect(roles.map(({ role }) => role)).toEqual([...Object.keys(BUILT_IN_ROLES), "Ant", "zebra"]);
    expect(roles[0]).toEqual({ role: "owner", scopes: ["*"], builtIn: true });
    expect(roles.at(-1)).toEqual({ role: "zebra", scopes: ["runs:read"], builtIn: false });
  });

  test("are its own: another tenant neither sees nor removes them", async () => {
    await define({ role: "lead", scopes: [] });
    const stranger = as({ tenant: "t2" });
    expect(await own(stranger)).toEqual([]);
    await expect(removeRole(host, stranger, "lead")).rejects.toMatchObject({ code: "not_found" });
    expect(await own()).toHaveLength(1);
  });
});

describe("a role", () => {
  test("is replaced by the next definition, and both are in the audit log", async () => {
    await define({ role: "lead", scopes: ["runs:read"] });
    await define({ role: "lead", scopes: ["runs:cancel"] });
    expect(await own()).toEqual([{ role: "lead", scopes: ["runs:cancel"], builtIn: false }]);
    expect(await audit()).toMatchObject([
      { actor: "ada", action: "role.defined", target: "lead", details: { scopes: "runs:read" } },
      { action: "role.defined", details: { scopes: "runs:cancel", scopesBefore: "runs:read" } },
    ]);
  });

  test("that is built in stays, in any spelling", async () => {
    for (const role of ["owner", "viewer", "Owner", "ADMIN"]) {
      await expect(define({ role, scopes: [] })).rejects.toMatchObject({ code: "validation_error" });
      await expect(removeRole(host, ADA, role)).rejects.toMatchObject({ code: "validation_error" });
    }
    expect(await audit()).toEqual([]);
  });

  test("has only scopes that there are", async () => {
    const made = define({ role: "lead", scopes: ["runs:read", "runs:everything"] });
    await expect(made).rejects.toMatchObject({ code: "validation_error" });
    expect(await own()).toEqual([]);
  });

  test("may be called like what every object has", async () => {
    await expect(removeRole(host, ADA, "toString")).rejects.toMatchObject({ code: "not_found" });
    await define({ role: "constructor", scopes: ["runs:read"] });
    expect(await own()).toEqual([{ role: "constructor", scopes: ["runs:read"], builtIn: false }]);
  });

  test("is gone when it is removed, with an entry in the log, and cannot be removed again", async () => {
    await define({ role: "lead", scopes: ["runs:read"] });
    await removeRole(host, ADA, "lead");
    expect(await own()).toEqual([]);
    expect((await audit()).at(-1)).toMatchObject({ action: "role.removed", target: "lead" });
    await expect(removeRole(host, ADA, "lead")).rejects.toMatchObject({ code: "not_found" });
  });

  test("is defined in one unit with the request's outcome", async () => {
    const record = () => idempotencyOutcome("t1");
    const request = { role: "lead", scopes: [] };
    await defineRole(host, { caller: ADA, request, record });
    expect(await store.readIdempotency(idempotencyOutcome("t1"), NOW)).toMatchObject({ state: "completed" });
    await expect(defineRole(host, { caller: ADA, request, record })).rejects.toBeInstanceOf(RecordedOutcome);
    expect(await audit()).toHaveLength(1);
  });
});

describe("a caller", () => {
  beforeEach(() => define({ role: "clerk", scopes: ["keys:manage", "runs:read"] }));
  const clerk = as({ principal: "cleo", roles: ["clerk"] });

  test("cannot define more than its roles grant", async () => {
    await define({ role: "reader", scopes: ["runs:read"] }, clerk);
    for (const scope of ["runs:create", "*"]) {
      const made = define({ role: "reader", scopes: ["runs:read", scope] }, clerk);
      await expect(made).rejects.toMatchObject(forbidden(scope, "the role"));
    }
    expect((await own()).at(-1)?.scopes).toEqual(["runs:read"]);
  });

  test("cannot define more than its key allows", async () => {
    const narrow = as({ keyScopes: ["keys:manage"] });
    const made = define({ role: "reader", scopes: ["runs:read"] }, narrow);
    await expect(made).rejects.toMatchObject(forbidden("runs:read", "the key"));
  });

  test("cannot replace or remove a role that grants more than it has", async () => {
    await define({ role: "lead", scopes: ["runs:cancel"] });
    const refusal = forbidden("runs:cancel", "the role");
    await expect(define({ role: "lead", scopes: [] }, clerk)).rejects.toMatchObject(refusal);
    await expect(removeRole(host, clerk, "lead")).rejects.toMatchObject(refusal);
    expect(await own()).toContainEqual({ role: "lead", scopes: ["runs:cancel"], builtIn: false });
  });
});

describe("a workspace", () => {
  const bound = as({ workspace: "east" });

  test("has roles of its own, which another one does not have", async () => {
    await define({ role: "lead", scopes: ["runs:read"] }, bound);
    await define({ role: "west-lead", scopes: [], workspace: "west" });
    const lead = { role: "lead", scopes: ["runs:read"], builtIn: false, workspace: "east" };
    expect(await own(bound)).toEqual([lead]);
    expect(await own(ADA, "east")).toEqual([lead]);
    expect(await own()).toEqual([]);
  });

  test("may define a role of the tenant otherwise, and has the tenant's again without it", async () => {
    await define({ role: "lead", scopes: ["runs:read"] });
    await define({ role: "lead", scopes: [] }, bound);
    expect(await own(bound)).toMatchObject([{ scopes: [], workspace: "east" }]);
    await removeRole(host, bound, "lead");
    expect(await own(bound)).toEqual([{ role: "lead", scopes: ["runs:read"], builtIn: false }]);
    expect(await own()).toHaveLength(1);
  });

  test("is the only one that a key bound to it defines, sees or removes roles for", async () => {
    const problem = { code: "validation_error" };
    await expect(define({ role: "lead", scopes: [], workspace: "west" }, bound)).rejects.toMatchObject(problem);
    await expect(removeRole(host, bound, "lead", "west")).rejects.toMatchObject(problem);
    await expect(listRoles(host, bound, "west")).rejects.toMatchObject(problem);
  });
});
