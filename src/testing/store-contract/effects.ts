import { describe, expect, test } from "vitest";
import { effectClaim, HOUR, idempotencyOutcome, NOW, newId, newTenant } from "../builders.ts";
import { accept, refused, type Subject, upTo } from "./subject.ts";

export function effects(subject: Subject): void {
  describe("an external effect", () => {
    test("is claimed before it happens and carries its outcome afterwards", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const claim = effectClaim(newId("run"));
      const { effectId } = claim;
      expect(await store.readEffect(effectId)).toBeUndefined();
      await accept(store, { tenant, effectClaims: [claim] });
      expect(await store.readEffect(effectId)).toEqual({ ...claim, tenant, state: "claimed" });

      const outcome = '{"messageId": "m-1"}';
      await accept(store, { tenant, effectOutcomes: [{ effectId, state: "succeeded", outcome, atMs: NOW + 1 }] });
      expect(await store.readEffect(effectId)).toEqual({ ...claim, tenant, state: "succeeded", outcome });
    });

    test("can be claimed and finished in one unit", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const claim = effectClaim(newId("run"));
      const { effectId } = claim;
      const effectOutcomes = [{ effectId, state: "failed" as const, outcome: "{}", atMs: NOW }];
      await accept(store, { tenant, effectClaims: [claim], effectOutcomes });
      expect(await store.readEffect(effectId)).toMatchObject({ state: "failed", outcome: "{}" });
    });

    test("is claimed once: the second claim learns of the first and what came of it", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const claim = effectClaim(newId("run"));
      const { effectId } = claim;
      await accept(store, { tenant, effectClaims: [claim] });
      const again = { ...claim, claimedBy: "worker-2" };
      const record = { ...claim, tenant, state: "claimed" };
      expect(await refused(store, { tenant, effectClaims: [again] })).toEqual({ type: "effect", record });

      await accept(store, { tenant, effectOutcomes: [{ effectId, state: "succeeded", outcome: "1", atMs: NOW }] });
      const done = { ...record, state: "succeeded", outcome: "1" };
      expect(await refused(store, { tenant, effectClaims: [again] })).toEqual({ type: "effect", record: done });
    });

    test("is claimed by exactly one of many concurrent units", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const runId = newId("run");
      const claims = upTo(12).map((n) => effectClaim(runId, { claimedBy: `worker-${n}` }));
      const results = await Promise.all(claims.map((claim) => store.commit({ tenant, effectClaims: [claim] })));
      const winner = `worker-${results.findIndex((result) => result.ok)}`;
      expect(results.filter((result) => result.ok)).toHaveLength(1);
      for (const result of results) {
        if (!result.ok) expect(result.refusal).toMatchObject({ type: "effect", record: { claimedBy: winner } });
      }
    });

    test("keeps its first outcome, whoever comes later with another", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const claim = effectClaim(newId("run"));
      const { effectId } = claim;
      await accept(store, { tenant, effectClaims: [claim] });
      await accept(store, { tenant, effectOutcomes: [{ effectId, state: "succeeded", outcome: "1", atMs: NOW }] });
      await accept(store, { tenant, effectOutcomes: [{ effectId, state: "failed", outcome: "{}", atMs: NOW + 1 }] });
      expect(await store.readEffect(effectId)).toMatchObject({ state: "succeeded", outcome: "1" });
    });

    test("takes no outcome from another tenant", async () => {
      const { store } = subject;
      const claim = effectClaim(newId("run"));
      const { effectId } = claim;
      await accept(store, { tenant: newTenant(), effectClaims: [claim] });
      await accept(store, {
        tenant: newTenant(),
        effectOutcomes: [{ effectId, state: "failed", outcome: "{}", atMs: NOW }],
      });
      expect(await store.readEffect(effectId)).toMatchObject({ state: "claimed" });
    });
  });

  describe("a purge", () => {
    test("forgets the records and effects whose retention is over, and says how many", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const soon = { expiresAtMs: NOW + HOUR };
      const [brief, lasting] = [effectClaim(newId("run"), soon), effectClaim(newId("run"))];
      await accept(store, { tenant, effectClaims: [brief, lasting], idempotency: idempotencyOutcome(tenant, soon) });
      const kept = idempotencyOutcome(tenant, { key: "k-2" });
      await accept(store, { tenant, idempotency: kept });

      expect(await store.purge(NOW + HOUR - 1)).toBe(0);
      expect(await store.purge(NOW + HOUR)).toBe(2);
      expect(await store.readEffect(brief.effectId)).toBeUndefined();
      expect(await store.readEffect(lasting.effectId)).toBeDefined();
      expect(await store.readIdempotency(kept, NOW)).toBeDefined();
    });
  });
}
