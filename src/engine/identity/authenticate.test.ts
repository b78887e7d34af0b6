import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { HOUR, type NewKey, NOW, newKey } from "../../testing/builders.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { accept, upTo } from "../../testing/store-contract/subject.ts";
import { type Authenticator, authenticator, hashOfKey, newApiKey } from "./authenticate.ts";

const T = "acme";
const MINUTE = 60_000;
let store: Store;
let host: ReturnType<typeof hostAt>;
let auth: Authenticator;
let troubles: unknown[];

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = hostAt(store);
  store = host.store;
  troubles = [];
  auth = authenticator(host, { onTrouble: (error) => troubles.push(error) });
});
afterEach(async () => {
  await auth.close();
  await store.close();
});

/** Stores a key and returns the header that carries it. */
async function given(more: Partial<NewKey> = {}): Promise<{ header: string; key: NewKey }> {
  const secret = newApiKey();
  const key = newKey(T, { hash: hashOfKey(secret), ...more });
  const binding = { tenant: T, principal: key.principal, roles: ["reviewer"] };
  await accept(store, { tenant: T, keys: [{ type: "put", key }], roles: [binding] });
  return { header: `Bearer ${secret}`, key };
}

const audited = async () => {
  await auth.close();
  return (await store.readAudit(T, 1, 1000, 1000)).filter((entry) => entry.action === "key.used");
};

describe("a known key", () => {
  test("speaks for its principal, with its roles and scopes", async () => {
    const { header, key } = await given({ workspace: "w1", kind: "agent", scopes: ["runs:read"] });
    expect(await auth.authenticate(header)).toEqual({
      tenant: T,
      workspace: "w1",
      principal: "pat",
      kind: "agent",
      keyId: key.keyId,
      roles: ["reviewer"],
      groups: [],
      keyScopes: ["runs:read"],
    });
    const tenantWide = await given();
    expect(await auth.authenticate(tenantWide.header)).not.toHaveProperty("workspace");
  });

  test("speaks for a member of the groups that its principal is in, in its workspace and tenant-wide", async () => {
    const { header } = await given({ workspace: "w1" });
    const who = { tenant: T, principal: "pat", roles: [] };
    const bindings = [
      { ...who, groups: ["legal"] },
      { ...who, workspace: "w1", groups: ["east"] },
      { ...who, workspace: "w2", groups: ["west"] },
    ];
    await accept(store, { tenant: T, roles: bindings });
    expect([...(await auth.authenticate(header)).groups].sort()).toEqual(["east", "legal"]);
    await accept(store, { tenant: T, roles: [{ ...who, workspace: "w1", groups: [] }] });
    expect((await auth.authenticate(header)).groups).toEqual(["legal"]);
  });

  test("is taken whatever the case of the scheme", async () => {
    const { header } = await given();
    expect(await auth.authenticate(header.replace("Bearer", "bearer"))).toMatchObject({ principal: "pat" });
  });

  test("is looked up once for many requests, and again after a second", async () => {
    const { header } = await given();
    const findKey = vi.spyOn(store, "findKey");
    await Promise.all(upTo(20).map(() => auth.authenticate(header)));
    await auth.authenticate(header);
    expect(findKey).toHaveBeenCalledTimes(1);
    host.pass(1000);
    await auth.authenticate(header);
    expect(findKey).toHaveBeenCalledTimes(2);
    host.pass(-1);
    await auth.authenticate(header);
    expect(findKey).toHaveBeenCalledTimes(3);
  });
});

describe("a header that names no known key", () => {
  test("gets the same answer whatever is wrong with it", async () => {
    const { header } = await given();
    const wrong = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Basic dXNlcjpwYXNz",
      header.slice("Bearer ".length),
      `${header}x`,
      `${header} x`,
      header.slice(0, -1),
      `Bearer ${newApiKey()}`,
      `Bearer ${"x".repeat(100_000)}`,
      "Bearer schlüssel-aus-umlauten",
    ];
    for (const authorization of wrong) {
      const error = await auth.authenticate(authorization).catch((thrown: unknown) => thrown);
      expect(error).toEqual(new AppError("unauthenticated"));
      expect((error as AppError).details).toEqual({});
    }
  });

  test("is asked for once per second at most, however often it is sent", async () => {
    const findKey = vi.spyOn(store, "findKey");
    for (const _ of upTo(5)) await expect(auth.authenticate("Bearer not-a-key-of-ours")).rejects.toThrow();
    expect(findKey).toHaveBeenCalledTimes(1);
  });

  test("is known at once when the key is made", async () => {
    const secret = newApiKey();
    await expect(auth.authenticate(`Bearer ${secret}`)).rejects.toMatchObject({ code: "unauthenticated" });
    await accept(store, { tenant: T, keys: [{ type: "put", key: newKey(T, { hash: hashOfKey(secret) }) }] });
    expect(await auth.authenticate(`Bearer ${secret}`)).toMatchObject({ principal: "pat" });
  });

  test("does not push out the keys that are known, however many are made up", async () => {
    const { header } = await given();
    await auth.authenticate(header);
    for (const n of upTo(3000)) await auth.authenticate(`Bearer made-up-key-${n}-----`).catch(() => {});
    const findKey = vi.spyOn(store, "findKey");
    await auth.authenticate(header);
    expect(findKey).not.toHaveBeenCalled();
  });
});

describe("a key that has ended", () => {
  test("is refused from the moment it expires, cached or not, with the time", async () => {
    const { header } = await given({ expiresAtMs: NOW + 500 });
    await auth.authenticate(header);
    host.pass(499);
    await auth.authenticate(header);
    host.pass(1);
    await expect(auth.authenticate(header)).rejects.toMatchObject({
      code: "key_expired",
      details: { expiredAt: new Date(NOW + 500).toISOString() },
    });
  });

  test("is refused from the moment its revocation is acknowledged, with the time", async () => {
    const { header, key } = await given();
    await auth.authenticate(header);
    await accept(store, { tenant: T, keys: [{ type: "revoke", keyId: key.keyId, atMs: NOW + 7 }] });
    await expect(auth.authenticate(header)).rejects.toMatchObject({
      code: "key_revoked",
      details: { revokedAt: new Date(NOW + 7).toISOString() },
    });
  });

  test("has lost the roles that were taken from its principal", async () => {
    const { header } = await given();
    await auth.authenticate(header);
    await accept(store, { tenant: T, roles: [{ tenant: T, principal: "pat", roles: [] }] });
    expect(await auth.authenticate(header)).toMatchObject({ roles: [] });
  });

  test("is not believed from a look-up that began before the revocation", async () => {
    const { header, key } = await given();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { findKey } = store;
    vi.spyOn(store, "findKey").mockImplementationOnce(async (hash) => {
      const found = await findKey(hash);
      await held;
      return found;
    });
    const early = auth.authenticate(header);
    await accept(store, { tenant: T, keys: [{ type: "revoke", keyId: key.keyId, atMs: NOW }] });
    const late = auth.authenticate(header);
    release();
    await early;
    await expect(late).rejects.toMatchObject({ code: "key_revoked" });
    await expect(auth.authenticate(header)).rejects.toMatchObject({ code: "key_revoked" });
  });
});

describe("the use of a key", () => {
  test("is audited the first time and then once a day", async () => {
    const { header, key } = await given();
    for (const _ of upTo(5)) await auth.authenticate(header);
    expect(await audited()).toMatchObject([{ actor: "pat", target: key.keyId, details: { keyId: key.keyId } }]);
    host.pass(23 * HOUR);
    await auth.authenticate(header);
    expect(await audited()).toHaveLength(1);
    host.pass(HOUR);
    await auth.authenticate(header);
    expect(await audited()).toHaveLength(2);
  });

  test("is audited once by several processes, and not again after a restart", async () => {
    const { header } = await given();
    const others = upTo(4).map(() => authenticator(host));
    await Promise.all([auth, ...others].map((each) => each.authenticate(header)));
    await Promise.all(others.map((other) => other.close()));
    expect(await audited()).toHaveLength(1);
    host.pass(5 * MINUTE);
    const restarted = authenticator(host);
    await restarted.authenticate(header);
    await restarted.close();
    expect(await audited()).toHaveLength(1);
  });

  test("is timed, at most once a minute", async () => {
    const { header, key } = await given();
    const lastUsed = async () => {
      await auth.close();
      return (await store.findKey(key.hash))?.lastUsedAtMs;
    };
    await auth.authenticate(header);
    expect(await lastUsed()).toBe(NOW);
    host.pass(MINUTE - 1);
    await auth.authenticate(header);
    expect(await lastUsed()).toBe(NOW);
    host.pass(1);
    await auth.authenticate(header);
    expect(await lastUsed()).toBe(NOW + MINUTE);
  });

  test("never delays or fails a request", async () => {
    const { header } = await given();
    let refuse: (error: Error) => void = () => {};
    vi.spyOn(store, "commit").mockImplementation(() => new Promise((_, reject) => (refuse = reject)));
    expect(await auth.authenticate(header)).toMatchObject({ principal: "pat" });
    expect(troubles).toEqual([]);
    refuse(new Error("away"));
    await auth.close();
    expect(troubles).toEqual([new Error("away")]);
    expect(await auth.authenticate(header)).toMatchObject({ principal: "pat" });
  });

  test("is not noted for a key that has ended", async () => {
    const { header } = await given({ expiresAtMs: NOW });
    await expect(auth.authenticate(header)).rejects.toMatchObject({ code: "key_expired" });
    expect(await audited()).toEqual([]);
  });
});

describe("trouble with the database", () => {
  test("is not taken for an unknown key, and is not remembered", async () => {
    const { header } = await given();
    vi.spyOn(store, "findKey").mockRejectedValueOnce(new AppError("unavailable", { reason: "away" }));
    await expect(auth.authenticate(header)).rejects.toMatchObject({ code: "unavailable" });
    expect(await auth.authenticate(header)).toMatchObject({ principal: "pat" });
  });
});
