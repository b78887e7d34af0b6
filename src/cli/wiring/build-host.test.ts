import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { NewClaims } from "../../engine/gates/interrupt-token.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { NOW } from "../../testing/builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { tokensFor } from "./build-host.ts";

let path: string;
let store: Store;
beforeEach(async () => {
  path = join(tempDir(), "assay.db");
  store = await openSqliteStore({ path });
});
afterEach(() => store.close());

const claims: NewClaims = {
  runId: "run-1",
  nodeId: "gate",
  interruptId: "int-1",
  expiresAt: new Date(NOW + 1000).toISOString(),
  intent: "resolve",
};
const tokens = (tokenKeys?: string) => tokensFor(store, { tokenKeys, tokenTtl: 60 }, () => NOW);
const KEY = `2027:${"k".repeat(32)}`;

test("tokens are signed with a secret of the database unless keys are given, the same after a restart", async () => {
  const token = (await tokens()).mint(claims);
  await store.close();
  store = await openSqliteStore({ path });
  expect((await tokens()).read(token)).toEqual({ ...claims, kid: "host" });
});

test("tokens of another database are not found", async () => {
  const other = await openSqliteStore({ path: join(tempDir(), "other.db") });
  const token = (await tokensFor(other, { tokenKeys: undefined, tokenTtl: 60 }, () => NOW)).mint(claims);
  await other.close();
  const ours = await tokens();
  expect(() => ours.read(token)).toThrow(expect.objectContaining({ code: "interrupt_not_found" }));
});

test("giving keys cuts off no token that is out there, and new ones are signed with the first of them", async () => {
  const before = (await tokens()).mint(claims);
  const after = await tokens(KEY);
  expect(after.read(before)).toMatchObject({ kid: "host" });
  expect(after.read(after.mint(claims))).toMatchObject({ kid: "2027" });
  const without = await tokens();
  expect(() => without.read(after.mint(claims))).toThrow(expect.objectContaining({ code: "interrupt_not_found" }));
});

test("tokens are good for as long as the setting says", async () => {
  expect((await tokens()).ttlMs).toBe(60_000);
});
