import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Caller, OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import type { KeyRecord, Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Host } from "../host.ts";
import { makersOf, originWrite } from "../identity/key-origin.ts";
import { namedVoter, relayFor } from "./voter.ts";

const NOW = 1_000_000;
const caller = (principal: string, keyId = `key-${principal}`): Caller => ({
  tenant: "t1",
  principal,
  kind: "user",
  keyId,
  roles: ["owner"],
  groups: [],
  keyScopes: ["*"],
});
const BOT = caller("bot");

let store: Store;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
});
afterEach(() => store.close());

/** A key, with the origin that the host records where another key made it. */
async function key(principal: string, more: Partial<KeyRecord> = {}, maker?: Caller): Promise<Caller> {
  const { keyId = `key-${principal}`, scopes = ["*"] } = more;
  const record = { keyId, hash: `hash-${keyId}`, tenant: "t1", principal, kind: "user", createdAtMs: 0 } as const;
  const origin = maker && (await originWrite(store, maker, { keyId, tenant: "t1", principal, scopes }, NOW));
  const documents = origin === undefined ? [] : [origin];
  const keys = [{ type: "put", key: { ...record, scopes, ...more } } as const];
  expect(await store.commit({ tenant: "t1", keys, documents })).toMatchObject({ ok: true });
  return caller(principal, keyId);
}

describe("the makers of a key", () => {
  test("are its maker and the makers of the maker's own key", async () => {
    const second = await key("second", {}, caller("first"));
    const third = await key("third", {}, second);
    expect(await makersOf(store, second)).toEqual(["first"]);
    expect(await makersOf(store, third)).toEqual(["second", "first"]);
  });

  test("stay those of the key with which a principal makes another for itself, and are none where that has none", async () => {
    const made = await key("second", {}, caller("first"));
    expect(await makersOf(store, await key("second", { keyId: "key-again" }, made))).toEqual(["first"]);
    expect(await makersOf(store, await key("first", { keyId: "key-own" }, caller("first")))).toEqual([]);
  });

  test("are none where the operator made it", async () => {
    expect(await makersOf(store, await key("ana", {}, caller("operator", OPERATOR_KEY_ID)))).toEqual([]);
  });
});

describe("a voter that a relay names", () => {
  const relay = { ...BOT, makers: [] as readonly string[] };
  const asked = (voter: string, { gates = {}, by = relay, workspace = undefined as string | undefined } = {}) => {
    const host = { store, nowMs: () => NOW, gates } as unknown as Host;
    return relayFor(
      host,
      by,
      { tenant: "t1", principal: "p", ...(workspace === undefined ? {} : { workspace }) },
      voter,
    );
  };

  test("is known by a key that works where the run is", async () => {
    await key("ana");
    await key("late", { expiresAtMs: NOW });
    await key("east", { workspace: "east" });
    expect(await asked("ana")).toMatchObject({ known: true, person: true });
    expect(await asked("ana", { workspace: "east" })).toMatchObject({ known: true });
    expect(await asked("late")).toMatchObject({ known: false, person: false });
    expect(await asked("east", { workspace: "east" })).toMatchObject({ known: true });
    expect(await asked("east", { workspace: "west" })).toMatchObject({ known: false });
    expect(await asked("east")).toMatchObject({ known: false });
  });

  test("is not known by a key that the relay made, and by any name where the host takes any", async () => {
    await key("puppet", {}, BOT);
    expect(await asked("puppet")).toMatchObject({ known: false, person: false });
    expect(await asked("nobody")).toMatchObject({ known: false });
    expect(await asked("nobody", { gates: { anyVoter: true } })).toMatchObject({ known: true, person: false });
  });

  test("counts by the key that the fewest had in hand, and is a person with one key of a person", async () => {
    await key("ana", { keyId: "key-1", kind: "agent" }, caller("maker"));
    await key("ana", { keyId: "key-2" });
    await key("ana", { keyId: "key-3" }, caller("maker"));
    expect(await asked("ana")).toMatchObject({ makers: [], person: true });
  });

  test("is named by a trusted relay only of its own tenant, and only with a key that nobody made", async () => {
    await key("ana");
    const trusted = (tenant: string) => ({ gates: { trustedRelays: [{ tenant, principal: "bot" }] } });
    expect(await asked("ana", trusted("t1"))).toMatchObject({ trusted: true });
    expect(await asked("ana", trusted("t2"))).toMatchObject({ trusted: false });
    expect(await asked("ana", { ...trusted("t1"), by: { ...BOT, makers: ["mallory"] } })).toMatchObject({
      trusted: false,
    });
  });

  test("is another than the caller", () => {
    expect(namedVoter({ voter: "ana" }, BOT)).toBe("ana");
    expect(namedVoter({ voter: "bot" }, BOT)).toBeUndefined();
  });
});
