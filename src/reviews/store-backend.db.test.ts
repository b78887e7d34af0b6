import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Host } from "../engine/host.ts";
import type { Caller } from "../protocol/identity/identity.ts";
import type { Store } from "../store/port/store.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { engineOn } from "../testing/engine.ts";
import { createDatabase } from "../testing/postgres.ts";
import { newSession, type ReviewSession } from "./provider/session.ts";
import { STORE_BACKEND_DEFAULTS, type StoreBackendSettings, storeBackend } from "./server/store-backend.ts";

const CALLER: Caller = {
  tenant: "t1",
  principal: "ada",
  kind: "agent",
  keyId: "key-1",
  roles: [],
  groups: [],
  keyScopes: ["*"],
};

interface Place {
  /** As many as processes that share it; a SQLite database has one. */
  readonly stores: readonly [Store, Store];
  drop(): Promise<void>;
}

const PLACES: readonly (readonly [string, () => Promise<Place>])[] = [
  [
    "SQLite",
    async () => {
      const store = await openSqliteStore({ path: ":memory:" });
      return { stores: [store, store], drop: () => store.close() };
    },
  ],
  [
    "two processes of one PostgreSQL",
    async () => {
      const { url, drop } = await createDatabase();
      const stores = [await openPostgresStore({ url }), await openPostgresStore({ url })] as const;
      const close = () => Promise.all(stores.map((store) => store.close()));
      return { stores, drop: () => close().then(drop) };
    },
  ],
];

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

/** What a turn leaves behind, as far as it matters here. */
function next(session: ReviewSession): ReviewSession {
  const iteration = session.last + 1;
  const feedback = {
    confidence: { level: "high", justification: "x" },
    positive_points: [],
    areas_for_improvement: [],
    general_summary: "x",
  };
  const response = JSON.stringify({ protocol_version: "1.2", iteration, status: "success", feedback });
  return { ...session, last: iteration, answered: { iteration, fingerprint: `f${iteration}`, response } };
}

describe.each(PLACES)("sessions in the store of %s", (_, open) => {
  let place: Place;
  let hosts: readonly [Host, Host];
  /** Added to the clock of all. */
  let laterMs = 0;
  beforeAll(async () => {
    place = await open();
    const nowMs = () => Date.now() + laterMs;
    hosts = [
      { ...engineOn(place.stores[0]), nowMs },
      { ...engineOn(place.stores[1]), nowMs },
    ];
  });
  afterEach(() => {
    laterMs = 0;
  });
  afterAll(() => place.drop());

  const homeOf = (i: 0 | 1, settings: Partial<StoreBackendSettings> = {}, caller = CALLER) =>
    storeBackend({ host: hosts[i], caller, agent: "qualitative-reviewer" }, { busyMs: 0, pollMs: 1, ...settings });
  const begin = () => homeOf(0).withNewSession(async (session) => ({ session, result: session.sessionID }));

  test("are there as soon as they were reported, and nobody else sees them", async () => {
    const sessionID = await begin();
    expect(await homeOf(1).read(sessionID)).toEqual(newSession(sessionID));
    const stranger = { ...CALLER, tenant: "t2" };
    expect(await homeOf(1, {}, stranger).read(sessionID)).toBeUndefined();
    const work = async () => ({ result: "seen" });
    expect(await homeOf(1, {}, stranger).withSession(sessionID, work)).toEqual({ ok: false, why: "unknown" });
    expect(await homeOf(1).withSession("ses_none", work)).toEqual({ ok: false, why: "unknown" });
  });

  test("are changed by one at a time, and by each after the other", async () => {
    const sessionID = await begin();
    let inside = 0;
    const turns = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        homeOf(i % 2 === 0 ? 0 : 1, { busyMs: 30_000 }).withSession(sessionID, async (session) => {
          inside += 1;
          expect(inside).toBe(1);
          await sleep(2);
          inside -= 1;
          return { session: next(session), result: session.last };
        }),
      ),
    );
    expect(turns.map((turn) => turn.ok && turn.result).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect((await homeOf(0).read(sessionID))?.last).toBe(8);
  });

  test("are busy while somebody works on them for too long, and free when the work fails", async () => {
    const sessionID = await begin();
    const [working, done] = [deferred(), deferred()];
    const failing = homeOf(0).withSession(sessionID, async () => {
      working.resolve();
      await done.promise;
      throw new Error("broken");
    });
    await working.promise;
    const work = async (session: ReviewSession) => ({ session: next(session), result: "ok" });
    expect(await homeOf(1).withSession(sessionID, work)).toEqual({ ok: false, why: "busy" });
    done.resolve();
    await expect(failing).rejects.toThrow("broken");
    expect(await homeOf(1).withSession(sessionID, work)).toEqual({ ok: true, result: "ok" });
  });

  test("stay held as long as the work goes on, however long the lease is", async () => {
    const sessionID = await begin();
    const [working, done] = [deferred(), deferred()];
    const long = homeOf(0, { leaseMs: 500 }).withSession(sessionID, async (session) => {
      working.resolve();
      await done.promise;
      return { session: next(session), result: "first" };
    });
    await working.promise;
    const busyMs = 1000;
    const other = await homeOf(1, { busyMs }).withSession(sessionID, async () => ({ result: "second" }));
    expect(other).toEqual({ ok: false, why: "busy" });
    done.resolve();
    expect(await long).toEqual({ ok: true, result: "first" });
  });

  test("of a host that was killed are free again before a requester has given up", async () => {
    const sessionID = await begin();
    const [working, done] = [deferred(), deferred()];
    const killed = homeOf(0).withSession(sessionID, async () => {
      working.resolve();
      await done.promise;
      return { result: "never heard of" };
    });
    await working.promise;
    // When the last of three attempts is made, of which two were told to come back; a requester waits one second, then four.
    laterMs = 2 * STORE_BACKEND_DEFAULTS.busyMs + 5_000;
    const taken = await homeOf(1).withSession(sessionID, async () => ({ result: "taken over" }));
    expect(taken).toEqual({ ok: true, result: "taken over" });
    done.resolve();
    await killed;
  });

  test("that were lost to another are not written: nothing was answered then", async () => {
    const sessionID = await begin();
    const [working, done] = [deferred(), deferred()];
    const slow = homeOf(0).withSession(sessionID, async (session) => {
      working.resolve();
      await done.promise;
      return { session: { ...next(session), last: 99 }, result: "slow" };
    });
    await working.promise;
    laterMs = 3_600_000;
    const quick = await homeOf(1).withSession(sessionID, async (session) => ({
      session: next(session),
      result: "quick",
    }));
    expect(quick).toEqual({ ok: true, result: "quick" });
    done.resolve();
    expect(await slow).toEqual({ ok: false, why: "busy" });
    expect((await homeOf(0).read(sessionID))?.last).toBe(1);
  });

  test("that are deleted under the hands of somebody stay deleted", async () => {
    const sessionID = await begin();
    const work = async (session: ReviewSession) => {
      await place.stores[1].commit({ tenant: "t1", reviews: [{ type: "delete", sessionId: sessionID }] });
      return { session: next(session), result: "x" };
    };
    expect(await homeOf(0).withSession(sessionID, work)).toEqual({ ok: false, why: "unknown" });
    expect(await homeOf(0).read(sessionID)).toBeUndefined();
  });

  test("can be copied with all of their rounds, and go their own ways", async () => {
    // After everything that others did here.
    laterMs = 7_200_000;
    const sessionID = await begin();
    const step = async (session: ReviewSession) => ({ session: next(session), result: session.last });
    for (let i = 0; i < 3; i++) await homeOf(0).withSession(sessionID, step);
    const copy = (await homeOf(1).fork(sessionID)) ?? "";
    expect(await homeOf(0).read(copy)).toEqual({ ...(await homeOf(0).read(sessionID)), sessionID: copy });
    expect((await place.stores[0].readReview({ tenant: "t1" }, copy))?.rounds).toBe(3);
    await homeOf(1).withSession(copy, step);
    expect((await homeOf(0).read(sessionID))?.last).toBe(3);
    expect(await homeOf(0).latest()).toBe(copy);
    expect(await homeOf(0).fork("ses_none")).toBeUndefined();
  });

  test("leave in the audit log that something was said, and never what", async () => {
    const sessionID = await begin();
    const from = (await place.stores[0].auditHead("t1"))?.seq ?? 0;
    await homeOf(0).withSession(sessionID, async (session) => ({ session: next(session), result: 1 }));
    const entries = await place.stores[0].readAudit("t1", from, from + 9, 9);
    expect(entries.map(({ action, target, actor }) => [action, target, actor])).toEqual([
      ["review.begin", sessionID, "ada"],
      ["review.round", sessionID, "ada"],
    ]);
    const [, round] = entries;
    const counts = { iteration: 1, outcome: "success", remarks: 0, decisions: 0 };
    expect(round?.details).toEqual({ agent: "qualitative-reviewer", keyId: "key-1", ...counts });
  });
});
