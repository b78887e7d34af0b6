import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { RunError } from "../../protocol/events.ts";
import { parse } from "../../protocol/schema.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { NOW } from "../../testing/builders.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { upTo } from "../../testing/store-contract/subject.ts";
import type { NodeOutcome } from "../worker/node-type.ts";
import { type Effect, type EffectResult, logicalInvocationId, withEffect } from "./effects.ts";

let store: Store;
let host: ReturnType<typeof hostAt>;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = hostAt(store);
});
afterEach(() => store.close());

const identity = { tenantId: "acme", runId: "run-1", nodeId: "mail", ordinal: 0, providerKey: "mail:send" };
const effect: Effect = { ...identity, claimedBy: "worker-1", providerAcceptsIdentity: false };
const accepted: Effect = { ...effect, providerAcceptsIdentity: true };
const id = logicalInvocationId(identity);

const sent: EffectResult<{ messageId: string }> = { type: "succeeded", value: { messageId: "m-1" } };
const bounced: EffectResult<never> = { type: "failed", error: { code: "node_failed", message: "no such address" } };
const send = (answer: EffectResult<unknown> = sent) => vi.fn(async (_effectId: string) => answer);

describe("the identity of an effect", () => {
  test("is the SHA-256 of its parts with NUL between them, in base64url", () => {
    const parts = ["openwop:activity:v2", "acme", "run-1", "mail", "0", "mail:send"];
    expect(id).toBe(createHash("sha256").update(parts.join("\x00")).digest("base64url"));
    expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test("differs in every part, and only there", () => {
    const others = [
      { tenantId: "other" },
      { runId: "run-2" },
      { nodeId: "fax" },
      { ordinal: 1 },
      { providerKey: "mail:draft" },
    ];
    const ids = others.map((other) => logicalInvocationId({ ...identity, ...other }));
    expect(new Set([id, ...ids]).size).toBe(6);
    expect(logicalInvocationId(accepted)).toBe(id);
    expect(() => logicalInvocationId({ ...identity, nodeId: "mail\x00" })).toThrow("NUL");
  });
});

describe("an effect that happens for the first time", () => {
  test("is claimed before it is fired, and recorded before its result is known", async () => {
    const seen: unknown[] = [];
    const result = await withEffect(host, effect, async (effectId) => {
      seen.push(effectId, (await store.readEffect(effectId))?.state);
      return sent;
    });
    expect(seen).toEqual([id, "claimed"]);
    expect(result).toEqual(sent);
    expect(await store.readEffect(id)).toMatchObject({
      tenant: "acme",
      runId: "run-1",
      nodeId: "mail",
      ordinal: 0,
      providerKey: "mail:send",
      claimedBy: "worker-1",
      state: "succeeded",
      outcome: '{"messageId":"m-1"}',
      expiresAtMs: NOW + host.effects.retentionMs,
    });
  });

  test("is not fired when the claim cannot be made", async () => {
    const fire = send();
    vi.spyOn(store, "commit").mockRejectedValueOnce(new AppError("unavailable", { reason: "away" }));
    await expect(withEffect(host, effect, fire)).rejects.toMatchObject({ code: "unavailable" });
    expect(fire).not.toHaveBeenCalled();
  });

  test("fails in a way that a node can return", async () => {
    const result = await withEffect(host, effect, send(bounced));
    if (result.type !== "failed") throw new Error("it succeeded");
    const outcome: NodeOutcome = result;
    expect(outcome).toEqual(bounced);
  });

  test("is recorded when the database comes back, however often it was away", async () => {
    const fire = send();
    const { commit } = store;
    let calls = 0;
    vi.spyOn(store, "commit").mockImplementation((unit) => {
      calls += 1;
      return calls === 2 || calls === 3
        ? Promise.reject(new AppError("unavailable", { reason: "away" }))
        : commit(unit);
    });
    expect(await withEffect(host, effect, fire)).toEqual(sent);
    expect(fire).toHaveBeenCalledTimes(1);
    expect(await store.readEffect(id)).toMatchObject({ state: "succeeded" });
  });
});

describe("an effect that has an outcome", () => {
  test.each([
    ["success", sent],
    ["failure", bounced],
  ])("returns its %s to whoever comes again, without firing", async (_, first) => {
    const firstTime = await withEffect(host, effect, send(first));
    const fire = send({ type: "succeeded", value: "another" });
    expect(await withEffect(host, { ...effect, claimedBy: "worker-2" }, fire)).toEqual(firstTime);
    expect(await withEffect(host, { ...accepted, claimedBy: "worker-2" }, fire)).toEqual(firstTime);
    expect(fire).not.toHaveBeenCalled();
  });

  test("gives the first caller exactly what it gives the next", async () => {
    const odd = { type: "succeeded", value: { at: new Date(NOW), none: undefined, nan: Number.NaN } } as const;
    const first = await withEffect(host, effect, send(odd));
    expect(first).toEqual({ type: "succeeded", value: { at: new Date(NOW).toISOString(), nan: null } });
    expect(await withEffect(host, effect, send())).toEqual(first);
    const nothing = await withEffect(host, { ...effect, ordinal: 1 }, send({ type: "succeeded", value: undefined }));
    expect(nothing).toEqual({ type: "succeeded", value: null });
  });

  test("does not stand for the next one that is intended", async () => {
    await withEffect(host, effect, send());
    const fire = send();
    await withEffect(host, { ...effect, ordinal: 1 }, fire);
    expect(fire).toHaveBeenCalledTimes(1);
  });
});

describe("an effect that was claimed by a process that is gone", () => {
  beforeEach(async () => {
    const { tenantId: tenant, ...rest } = identity;
    const claim = { ...rest, effectId: id, claimedBy: "worker-0", atMs: NOW, expiresAtMs: NOW + 1000 };
    await store.commit({ tenant, effectClaims: [claim] });
  });

  test("is in doubt and not repeated, however often somebody comes", async () => {
    const fire = send();
    for (const _ of upTo(3)) {
      const result = await withEffect(host, effect, fire);
      if (result.type !== "failed") throw new Error("it succeeded");
      expect(parse(RunError, result.error, "error")).toMatchObject({ code: "effect_in_doubt", retryable: false });
      expect(result.error.message).toContain("worker-0");
    }
    expect(fire).not.toHaveBeenCalled();
    expect(await store.readEffect(id)).toMatchObject({ state: "claimed" });
  });

  test("is repeated under the same id when the provider accepts it as its own", async () => {
    const fire = send();
    expect(await withEffect(host, accepted, fire)).toEqual(sent);
    expect(fire).toHaveBeenCalledExactlyOnceWith(id);
    expect(await withEffect(host, effect, send(bounced))).toEqual(sent);
  });
});

describe("an effect that throws", () => {
  const breaks = vi.fn(async (_effectId: string): Promise<EffectResult<unknown>> => {
    throw new Error("connection reset");
  });

  test("has failed for good, because nobody knows what happened", async () => {
    const failed = { type: "failed", error: { code: "node_threw", message: "connection reset", retryable: false } };
    expect(await withEffect(host, effect, breaks)).toEqual(failed);
    const fire = send();
    expect(await withEffect(host, effect, fire)).toEqual(failed);
    expect(fire).not.toHaveBeenCalled();
  });

  test("may be repeated when the provider accepts our id", async () => {
    await expect(withEffect(host, accepted, breaks)).rejects.toThrow("connection reset");
    expect(await withEffect(host, accepted, send())).toEqual(sent);
  });

  test("because it was aborted stays in doubt", async () => {
    const controller = new AbortController();
    const aborted = withEffect(host, { ...effect, signal: controller.signal }, async () => {
      controller.abort();
      throw controller.signal.reason;
    });
    await expect(aborted).rejects.toThrow("abort");
    expect(await withEffect(host, effect, send())).toMatchObject({ error: { code: "effect_in_doubt" } });
  });
});

describe("an effect that many want at once", () => {
  test("is fired once, and all get its outcome", async () => {
    const fire = vi.fn(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return sent;
    });
    const results = await Promise.all(upTo(10).map(() => withEffect(host, effect, fire)));
    expect(fire).toHaveBeenCalledTimes(1);
    for (const result of results) expect(result).toEqual(sent);
  });
});
