import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { type AuditLog, auditLogOn, checkpointsOf } from "../../testing/audit-log.ts";
import { ADA } from "../../testing/engine.ts";
import { eventually } from "../../testing/eventually.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { verifyAudit } from "../audit/verify.ts";
import { authenticator } from "./authenticate.ts";
import { createKey, revokeKey } from "./keys.ts";
import { listPrincipals, setPrincipal } from "./principals.ts";
import { bootstrapOwnerKey, seedKeys } from "./seed-keys.ts";

let database: TestDatabase;
let stores: Store[];
let logs: AuditLog[];
beforeEach(async () => {
  database = await createDatabase();
  const first = await openPostgresStore({ url: database.url });
  stores = [first, ...(await Promise.all([2, 3].map(() => openPostgresStore({ url: database.url }))))];
  logs = await Promise.all(stores.map((store) => auditLogOn(store)));
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const hosts = () => logs.map(({ host, checkpointer }) => ({ ...host, checkpointer }));
const entries = async (tenant: string, action: string) =>
  (await (stores[0] as Store).readAudit(tenant, 1, 1000, 1000)).filter((entry) => entry.action === action);

describe("several hosts that start on one empty database", () => {
  test("make one owner's key between them", async () => {
    const keys = (await Promise.all(hosts().map(bootstrapOwnerKey))).filter((key) => key !== undefined);
    expect(keys).toHaveLength(1);
    expect(await checkpointsOf(stores[1] as Store, "default")).toEqual([[0, 1]]);
    const auths = hosts().map((host) => authenticator(host));
    for (const auth of auths) expect(await auth.authenticate(`Bearer ${keys[0]}`)).toMatchObject({ roles: ["owner"] });
    await Promise.all(auths.map((auth) => auth.close()));
  });

  test("bring the same key file in together", async () => {
    const file = [
      { key: "key-from-the-file-1", tenant: "acme", principal: "pat", roles: ["viewer"] },
      { key: "key-from-the-file-2", tenant: "acme", principal: "pat", roles: ["reviewer"] },
      { key: "key-from-the-file-3", tenant: "other", principal: "pat" },
    ];
    await Promise.all(hosts().map((host) => seedKeys(host, file)));
    const [log] = logs as [AuditLog];
    const keys = await log.store.listKeys({ tenant: "acme" });
    expect(keys.map((key) => [...key.roles].sort())).toEqual([
      ["reviewer", "viewer"],
      ["reviewer", "viewer"],
    ]);
    for (const tenant of ["acme", "other"]) {
      expect(await verifyAudit(log.store, log.signer, tenant, 0, 100)).toMatchObject({ chainValid: true });
      expect((await checkpointsOf(log.store, tenant)).length).toBeGreaterThan(0);
    }
  });
});

describe("a key used and revoked on different hosts", () => {
  test("is audited as used once, and refused everywhere", async () => {
    const [one, two, three] = hosts() as [AuditLog["host"], AuditLog["host"], AuditLog["host"]];
    const { key, info } = await createKey(one, ADA, { principal: "pat" });
    const auths = [one, two, three].map((host) => authenticator(host, { cacheMs: 60_000 }));
    await Promise.all(auths.map((auth) => auth.authenticate(`Bearer ${key}`)));
    await revokeKey(two, { caller: ADA, keyId: info.keyId, record: () => undefined });
    // Told by notification, long before their caches would have looked again.
    for (const auth of auths) {
      await eventually(() => expect(auth.authenticate(`Bearer ${key}`)).rejects.toMatchObject({ code: "key_revoked" }));
    }
    await Promise.all(auths.map((auth) => auth.close()));
    expect(await entries(ADA.tenant, "key.used")).toHaveLength(1);
    expect(await entries(ADA.tenant, "key.revoked")).toHaveLength(1);
  });
});

describe("two owners who take each other away on different hosts at once", () => {
  test("leave one of them an owner", async () => {
    const [one, two] = hosts() as [AuditLog["host"], AuditLog["host"]];
    const as = (principal: string) => ({ ...ADA, tenant: "owned", principal });
    for (const principal of ["olga", "oscar"]) await createKey(one, as("ada"), { principal, roles: ["owner"] });
    const demote = (host: AuditLog["host"], caller: string, principal: string) =>
      setPrincipal(host, { caller: as(caller), principal, request: { roles: ["viewer"] }, record: () => undefined });
    const both = await Promise.allSettled([demote(one, "olga", "oscar"), demote(two, "oscar", "olga")]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const { principals } = await listPrincipals(one, as("ada"));
    expect(principals.flatMap(({ roles }) => roles).sort()).toEqual(["owner", "viewer"]);
  });
});

describe("changes of one principal on different hosts at once", () => {
  const owner = { ...ADA, tenant: "raised", roles: ["owner"] };
  const admin = { ...owner, principal: "adam", roles: ["admin"] };
  const record = () => undefined;

  test("give nobody a key of somebody above", async () => {
    const [one, two] = hosts() as [AuditLog["host"], AuditLog["host"]];
    for (const principal of ["nora", "nils", "nico", "nell"]) {
      await createKey(one, owner, { principal });
      const both = await Promise.allSettled([
        createKey(two, admin, { principal }),
        setPrincipal(one, { caller: owner, principal, request: { roles: ["owner"] }, record }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "forbidden" } });
    }
  });

  test("are all made where they do not contradict", async () => {
    const [one, two] = hosts() as [AuditLog["host"], AuditLog["host"]];
    const made = [one, two, one, two].map((host) => createKey(host, owner, { principal: "nora" }));
    expect(await Promise.all(made)).toHaveLength(4);
  });
});
