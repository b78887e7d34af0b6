import { describe, expect, test } from "vitest";
import { FIRST_ROUND, type StoredReview } from "../../store/port/reviews.ts";
import type { Store } from "../../store/port/store.ts";
import { NOW, newTenant } from "../builders.ts";
import { reviewOf, roundOf, writing } from "../review-builders.ts";
import { accept, refused, type Subject, upTo } from "./subject.ts";

const LATER = NOW + 60_000;

async function stored(store: Store, session: StoredReview, rounds = 0): Promise<StoredReview> {
  const whole = { ...session, rounds };
  const all = upTo(rounds).map((i) => roundOf(whole, i + 1));
  await accept(store, { tenant: whole.tenant, reviews: [writing(whole, all)] });
  return whole;
}

const headOf = ({ memory: _, ...head }: StoredReview) => head;
const claimOf = ({ sessionId }: StoredReview, owner: string, nowMs = NOW) => ({
  sessionId,
  owner,
  nowMs,
  untilMs: nowMs + 1000,
});

export function reviews(subject: Subject): void {
  describe("a review session", () => {
    test("comes back as it was written, to its tenant and workspace only", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const memory = JSON.stringify({ text: '\u2028 \u0000 \\ " 🦀' });
      const there = await stored(store, reviewOf(tenant, { workspace: "w1", memory }), 2);
      const plain = await stored(store, reviewOf(tenant));
      expect(await store.readReview({ tenant, workspace: "w1" }, there.sessionId)).toEqual(there);
      expect(await store.readReview({ tenant }, plain.sessionId)).toEqual(plain);
      for (const visible of [{ tenant: newTenant() }, { tenant, workspace: "w2" }]) {
        expect(await store.readReview(visible, there.sessionId)).toBeUndefined();
        expect(await store.claimReview(visible, claimOf(there, "a"))).toBeUndefined();
        expect(await store.listReviews(visible, { limit: 9 })).toEqual([]);
      }
      expect(await store.reviewRounds(newTenant(), [there.sessionId], FIRST_ROUND, 9)).toEqual([]);
    });

    test("is listed newest first, in pages, by reviewer and by when it began", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const made: StoredReview[] = [];
      for (const i of upTo(5)) {
        const agent = i === 1 ? "other" : "qualitative-reviewer";
        made.push(await stored(store, reviewOf(tenant, { createdAtMs: NOW + (i >> 1), agent })));
      }
      const newest = [...made]
        .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.sessionId < b.sessionId ? 1 : -1))
        .map(headOf);
      const first = await store.listReviews({ tenant }, { limit: 3 });
      expect(first).toEqual(newest.slice(0, 3));
      const [, , before] = first;
      if (before === undefined) throw new Error("the page is too short");
      expect(await store.listReviews({ tenant }, { limit: 3, before })).toEqual(newest.slice(3));
      const used = { ...reviewOf(tenant), updatedAtMs: NOW + 99 };
      await stored(store, used);
      await stored(store, reviewOf(tenant, { createdAtMs: NOW - 9 }));
      await stored(store, { ...reviewOf(tenant), updatedAtMs: NOW + 100, createdBy: "another" });
      expect(await store.latestReview({ tenant }, used.createdBy)).toBe(used.sessionId);
      expect(await store.latestReview({ tenant }, "nobody")).toBeUndefined();
      expect(await store.latestReview({ tenant: newTenant() }, used.createdBy)).toBeUndefined();
      const others = newest.filter(({ agent }) => agent === "other");
      expect(await store.listReviews({ tenant }, { limit: 9, agent: "other" })).toEqual(others);
      const middle = newest.filter(({ createdAtMs }) => createdAtMs === NOW + 1);
      expect(await store.listReviews({ tenant }, { limit: 9, fromMs: NOW + 1, toMs: NOW + 2 })).toEqual(middle);
    });

    test("has its rounds in order, in pages, together with those of others", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const one = await stored(store, reviewOf(tenant), 3);
      const two = await stored(store, reviewOf(tenant), 2);
      await stored(store, reviewOf(tenant), 1);
      const ids = [two.sessionId, one.sessionId];
      const all = await store.reviewRounds(tenant, ids, FIRST_ROUND, 9);
      const expected = [one, two].flatMap((session) => upTo(session.rounds).map((i) => roundOf(session, i + 1)));
      expect(all).toEqual(
        expected.sort((a, b) => (a.sessionId < b.sessionId ? -1 : a.sessionId > b.sessionId ? 1 : a.n - b.n)),
      );
      const page = await store.reviewRounds(tenant, ids, FIRST_ROUND, 2);
      const last = page.at(-1) ?? FIRST_ROUND;
      expect([...page, ...(await store.reviewRounds(tenant, ids, last, 9))]).toEqual(all);
      expect(await store.reviewRounds(tenant, [], FIRST_ROUND, 9)).toEqual([]);
    });

    test("is held by one of however many claim it at the same time, until it is let go or the time is over", async () => {
      const { store } = subject;
      const session = await stored(store, reviewOf(newTenant()));
      const visible = { tenant: session.tenant };
      const claims = await Promise.all(upTo(6).map((i) => store.claimReview(visible, claimOf(session, `host-${i}`))));
      expect(claims.filter((claim) => claim !== "held")).toEqual([session]);
      const owner = `host-${claims.findIndex((claim) => claim !== "held")}`;
      await store.releaseReview(session.sessionId, "somebody else");
      expect(await store.claimReview(visible, claimOf(session, "b", NOW + 999))).toBe("held");
      expect(await store.renewReview(session.sessionId, owner, LATER)).toBe(true);
      expect(await store.claimReview(visible, claimOf(session, "b", NOW + 1000))).toBe("held");
      expect(await store.claimReview(visible, claimOf(session, "b", LATER))).toEqual(session);
      expect(await store.renewReview(session.sessionId, owner, LATER)).toBe(false);
      await store.releaseReview(session.sessionId, "b");
      expect(await store.claimReview(visible, claimOf(session, "c"))).toEqual(session);
    });

    test("goes on only from where it stands, by whoever holds it, and is free afterwards", async () => {
      const { store } = subject;
      const session = await stored(store, reviewOf(newTenant()), 1);
      const { tenant, sessionId } = session;
      const second = { ...session, revision: 2, rounds: 2, memory: '{"last":1}', updatedAtMs: NOW + 9 };
      const write = (heldBy?: string, more: Partial<StoredReview> = {}) => ({
        tenant,
        reviews: [writing({ ...second, ...more }, [roundOf(session, 2)], heldBy)],
      });
      const busy = { type: "review", sessionId, there: true };
      await store.claimReview({ tenant }, claimOf(session, "a"));
      expect(await refused(store, write())).toEqual(busy);
      expect(await refused(store, write("b"))).toEqual(busy);
      expect(await refused(store, write("a", { revision: 3 }))).toEqual(busy);
      expect(await refused(store, { ...write("a"), tenant: newTenant() })).toEqual({ ...busy, there: false });
      await store.claimReview({ tenant }, claimOf(session, "b", LATER));
      expect(await refused(store, write("a"))).toEqual(busy);
      expect(await store.readReview({ tenant }, sessionId)).toEqual(session);
      await accept(store, write("b"));
      expect(await store.readReview({ tenant }, sessionId)).toEqual(second);
      expect(await store.reviewRounds(tenant, [sessionId], FIRST_ROUND, 9)).toHaveLength(2);
      expect(await store.claimReview({ tenant }, claimOf(session, "c"))).toEqual(second);
    });

    test("is begun once: its id is not to be had again, whoever asks", async () => {
      const { store } = subject;
      const session = await stored(store, reviewOf(newTenant()));
      const { sessionId, tenant } = session;
      const again = { tenant, reviews: [writing(session)] };
      expect(await refused(store, again)).toEqual({ type: "review", sessionId, there: true });
      const other = newTenant();
      const stolen = { tenant: other, reviews: [writing({ ...session, tenant: other })] };
      expect(await refused(store, stolen)).toEqual({ type: "review", sessionId, there: false });
    });

    test("goes with its rounds when it is deleted, and whoever held it can write no more", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const session = await stored(store, reviewOf(tenant), 2);
      const kept = await stored(store, reviewOf(tenant), 1);
      const { sessionId } = session;
      await store.claimReview({ tenant }, claimOf(session, "a"));
      const gone = { type: "review", sessionId, there: false };
      const deletion = { type: "delete", sessionId } as const;
      expect(await refused(store, { tenant: newTenant(), reviews: [deletion] })).toEqual(gone);
      await accept(store, { tenant, reviews: [deletion] });
      expect(await store.readReview({ tenant }, sessionId)).toBeUndefined();
      expect(await store.reviewRounds(tenant, [sessionId, kept.sessionId], FIRST_ROUND, 9)).toHaveLength(1);
      const late = { tenant, reviews: [writing({ ...session, revision: 2 }, [], "a")] };
      expect(await refused(store, late)).toEqual(gone);
      expect(await refused(store, { tenant, reviews: [deletion] })).toEqual(gone);
    });
  });
}
