import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { type Change, NO_CHANGE } from "../../store/port/store.ts";
import { bearer, type TestHost, testHost } from "../../testing/host.ts";
import { KeyWatch } from "./key-watch.ts";

let host: TestHost;
let url: string;
let runId: string;
const open: AbortController[] = [];

beforeEach(async () => {
  host = await testHost();
  url = await host.listen();
  runId = await host.newRun();
});
afterEach(async () => {
  for (const connection of open.splice(0)) connection.abort();
  await host.close();
});

async function newKey(more: object = {}): Promise<{ authorization: string; keyId: string }> {
  const json = { principal: "guest", roles: ["viewer"], ...more };
  const { key, info } = (await host.ask("POST", "/v1/host/assay/keys", { json })).json();
  return { authorization: `Bearer ${key}`, keyId: info.keyId };
}

function get(path: string, { authorization }: { authorization: string }): Promise<Response> {
  const connection = new AbortController();
  open.push(connection);
  return fetch(`${url}/v1/runs/${runId}/events${path}`, { headers: { authorization }, signal: connection.signal });
}

/** Follows the run; gives whether the stream has ended. */
async function follow(key: { authorization: string }): Promise<() => boolean> {
  const response = await get("", key);
  expect(response.status).toBe(200);
  let ended = false;
  void response
    .text()
    .catch(() => {})
    .then(() => (ended = true));
  return () => ended;
}

const revoke = (keyId: string) => host.ask("POST", `/v1/host/assay/keys/${keyId}:revoke`);
/** The key cache time, and a little for a busy machine. */
const within = { timeout: 2500, interval: 20 };

test("revoking a key ends its streams, and nobody else's", async () => {
  const guest = await newKey();
  const ended = await follow(guest);
  const othersEnded = await follow(bearer("owner"));
  await revoke(guest.keyId);
  await expect.poll(ended, within).toBe(true);
  expect(othersEnded()).toBe(false);
});

test("revoking a key answers its waiting polls", async () => {
  const guest = await newKey();
  const polled = get("/poll?lastSequence=0&timeout=60", guest);
  await sleep(100);
  await revoke(guest.keyId);
  const response = await polled;
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: "key_revoked" });
});

test("a key that expires takes its streams and polls with it", async () => {
  const guest = await newKey({ expiresAt: new Date(Date.now() + 700).toISOString() });
  const ended = await follow(guest);
  const polled = get("/poll?lastSequence=0&timeout=60", guest);
  expect(ended()).toBe(false);
  await expect.poll(ended, within).toBe(true);
  expect(await (await polled).json()).toMatchObject({ error: "key_expired" });
});

test("a principal that loses its role loses its streams", async () => {
  const ended = await follow(await newKey());
  await host.store.commit({ tenant: "t1", roles: [{ tenant: "t1", principal: "guest", roles: [] }] });
  await expect.poll(ended, within).toBe(true);
});

test("a database that is away ends no stream", async () => {
  const ended = await follow(await newKey());
  await host.store.close();
  await sleep(1300);
  expect(ended()).toBe(false);
});

describe("with many keys that hold answers open", () => {
  let changed: (change: Change) => void;
  let checked: number;
  let refusedKey: string | undefined;
  let watch: KeyWatch;
  const ended: string[] = [];
  const KEYS = 500;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
    [checked, refusedKey] = [0, undefined];
    ended.length = 0;
    const callerOf = (keyId: string): Caller => ({
      ...{ tenant: "t1", principal: keyId, kind: "user", keyId },
      ...{ roles: ["viewer"], groups: [], keyScopes: ["*"] },
    });
    watch = new KeyWatch({
      store: {
        onChange: (listener) => {
          changed = listener;
          return () => {};
        },
      },
      authenticator: {
        cacheMs: 1000,
        authenticate: async (keyId = "") => {
          checked += 1;
          if (keyId === refusedKey) throw new AppError("key_revoked", { revokedAt: "now" });
          return callerOf(keyId);
        },
      },
      authorizer: { authorize: async () => {} },
    });
    for (let n = 0; n < KEYS; n += 1) {
      const caller = callerOf(`key-${n}`);
      watch.watch({ authorization: caller.keyId, caller, scopes: ["runs:read"] }, () => ended.push(caller.keyId));
    }
  });
  afterEach(() => {
    watch.close();
    vi.useRealTimers();
  });

  /** A turn for each piece of a check, and more. */
  const turns = async (many = KEYS) => {
    for (let n = 0; n < many; n += 1) await nextTurn();
  };
  const change = () => changed({ ...NO_CHANGE, keys: true });

  test("changes of keys within a short time lead to one check of each", async () => {
    for (let n = 0; n < 20; n += 1) {
      change();
      await vi.advanceTimersByTimeAsync(10);
      await turns();
    }
    // At the first change, and for all others together.
    expect(checked).toBe(KEYS);
    await vi.advanceTimersByTimeAsync(250);
    await turns();
    expect(checked).toBe(2 * KEYS);
  });

  test("other work goes on while they are checked", async () => {
    change();
    await vi.advanceTimersByTimeAsync(1);
    const before = checked;
    await turns(2);
    expect(checked).toBeLessThan(KEYS);
    expect(before).toBeLessThan(KEYS);
    await turns();
    expect(checked).toBe(KEYS);
  });

  test("a key that is revoked while they are checked is found by the next check", async () => {
    change();
    await vi.advanceTimersByTimeAsync(1);
    refusedKey = "key-0";
    change();
    await turns();
    await vi.advanceTimersByTimeAsync(250);
    await turns();
    expect(ended).toEqual(["key-0"]);
  });
});
