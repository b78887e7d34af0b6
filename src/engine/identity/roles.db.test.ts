import { afterEach, beforeEach, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { ADA } from "../../testing/engine.ts";
import { eventually } from "../../testing/eventually.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { authenticator } from "./authenticate.ts";
import { defineRole, removeRole } from "./define-role.ts";
import { createKey } from "./keys.ts";
import { listPrincipals, setPrincipal } from "./principals.ts";
import { authorizer } from "./roles.ts";

let database: TestDatabase;
let here: Store;
let there: Store;
beforeEach(async () => {
  database = await createDatabase();
  here = await openPostgresStore({ url: database.url });
  there = await openPostgresStore({ url: database.url });
});
afterEach(async () => {
  await Promise.all([here.close(), there.close()]);
  await database.drop();
});

// The clock of the other host stands still, so that only being told can make it look again.
test("roles and groups that change on one host change on the other", async () => {
  const [one, two] = [hostAt(here), hostAt(there)];
  const { key } = await createKey(one, ADA, { principal: "pat", roles: ["viewer"] });
  const gate = authorizer(two);
  const auth = authenticator(two);
  const may = async (scope: string) => (await gate.decide(await auth.authenticate(`Bearer ${key}`), scope)).allowed;
  expect(await may("runs:cancel")).toBe(false);

  const asked = { caller: ADA, record: () => undefined };
  await defineRole(one, { ...asked, request: { role: "lead", scopes: ["runs:cancel"] } });
  await setPrincipal(one, { ...asked, principal: "pat", request: { roles: ["lead"], groups: ["legal"] } });
  await eventually(async () => expect(await may("runs:cancel")).toBe(true));
  expect((await auth.authenticate(`Bearer ${key}`)).groups).toEqual(["legal"]);
  expect((await listPrincipals(two, ADA)).principals).toMatchObject([{ roles: ["lead"], groups: ["legal"] }]);

  await removeRole(one, ADA, "lead");
  await eventually(async () => expect(await may("runs:cancel")).toBe(false));
  gate.close();
  await auth.close();
});
