import { describe, expect, test } from "vitest";
import type { IdempotencyOutcome } from "../../store/port/store.ts";
import {
  HOUR,
  idempotencyClaim,
  idempotencyOutcome,
  NOW,
  newTenant,
  runWrite,
  sha256,
  startedRun,
} from "../builders.ts";
import { accept, refused, type Subject, upTo } from "./subject.ts";

function recordOf({ digest, state, response }: IdempotencyOutcome) {
  return { digest, state, response };
}

export function idempotency(subject: Subject): void {
  describe("an idempotency key", () => {
    test("remembers the first outcome, and a later unit gets it instead of happening", async () => {
      const { store } = subject;
      const outcome = idempotencyOutcome(newTenant());
      const { tenant } = outcome;
      expect(await store.readIdempotency(outcome, NOW)).toBeUndefined();
      await accept(store, { tenant, idempotency: outcome });
      expect(await store.readIdempotency(outcome, NOW)).toEqual(recordOf(outcome));

      const again = { ...outcome, response: { ...outcome.response, body: "another" } };
      const refusal = { type: "idempotency", record: recordOf(outcome) };
      expect(await refused(store, { tenant, idempotency: again })).toEqual(refusal);
    });

    test("used with another body gives the record that stands, for the caller to compare", async () => {
      const { store } = subject;
      const outcome = idempotencyOutcome(newTenant(), { state: "terminal-failure" });
      const { tenant } = outcome;
      await accept(store, { tenant, idempotency: outcome });
      const other = { ...outcome, digest: sha256("another body") };
      const refusal = { type: "idempotency", record: recordOf(outcome) };
      expect(await refused(store, { tenant, idempotency: other })).toEqual(refusal);
    });

    test("lets exactly one of many concurrent units through", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const rivals = upTo(20).map((n) => {
        const started = startedRun({ tenant });
        const response = { status: 201, headers: {}, body: started.run.runId };
        return {
          started,
          unit: {
            tenant,
            runs: [runWrite(started)],
            idempotency: idempotencyOutcome(tenant, { response, digest: `${n}` }),
          },
        };
      });
      const results = await Promise.all(rivals.map(({ unit }) => store.commit(unit)));
      const index = results.findIndex((result) => result.ok);
      expect(results.filter((result) => result.ok)).toHaveLength(1);
      expect(await store.listRuns({ tenant }, { limit: 100 })).toEqual([rivals[index]?.started.run]);
      for (const result of results) {
        if (result.ok) continue;
        expect(result.refusal).toMatchObject({
          type: "idempotency",
          record: { digest: `${index}`, state: "completed" },
        });
      }
    });

    test("belongs to a tenant and an operation", async () => {
      const { store } = subject;
      const outcome = idempotencyOutcome(newTenant());
      await accept(store, { tenant: outcome.tenant, idempotency: outcome });
      for (const other of [
        { ...outcome, tenant: newTenant() },
        { ...outcome, operation: "POST /v1/runs/run-1:cancel" },
        { ...outcome, key: "k-2" },
      ]) {
        expect(await store.readIdempotency(other, NOW)).toBeUndefined();
        await accept(store, { tenant: other.tenant, idempotency: other });
      }
    });

    test("can be used anew once its record has expired", async () => {
      const { store } = subject;
      const outcome = idempotencyOutcome(newTenant(), { expiresAtMs: NOW + HOUR });
      const { tenant } = outcome;
      await accept(store, { tenant, idempotency: outcome });
      const just = { ...outcome, digest: "new", nowMs: NOW + HOUR - 1, expiresAtMs: NOW + 2 * HOUR };
      expect((await refused(store, { tenant, idempotency: just })).type).toBe("idempotency");
      expect(await store.readIdempotency(outcome, NOW + HOUR - 1)).toBeDefined();
      expect(await store.readIdempotency(outcome, NOW + HOUR)).toBeUndefined();

      const later = { ...just, nowMs: NOW + HOUR };
      await accept(store, { tenant, idempotency: later });
      expect(await store.readIdempotency(outcome, NOW + HOUR)).toEqual(recordOf(later));
    });

    test("can be used anew after a failure that may be repeated", async () => {
      const { store } = subject;
      const failed = idempotencyOutcome(newTenant(), { state: "retryable-failure" });
      const { tenant } = failed;
      await accept(store, { tenant, idempotency: failed });
      const done = { ...failed, state: "completed" as const };
      await accept(store, { tenant, idempotency: done });
      expect(await store.readIdempotency(done, NOW)).toEqual(recordOf(done));
    });
  });

  describe("a claim of an idempotency key", () => {
    test("is pending until its outcome arrives", async () => {
      const { store } = subject;
      const claim = idempotencyClaim(newTenant());
      const { tenant, digest, leaseOwner, leaseUntilMs } = claim;
      const pending = { digest, state: "pending", leaseUntilMs };
      expect(await store.claimIdempotency(claim)).toBeUndefined();
      expect(await store.readIdempotency(claim, NOW)).toEqual(pending);
      expect(await store.claimIdempotency({ ...claim, leaseOwner: "host-2" })).toEqual(pending);

      const outcome = idempotencyOutcome(tenant, { leaseOwner });
      await accept(store, { tenant, idempotency: outcome });
      expect(await store.readIdempotency(claim, NOW)).toEqual(recordOf(outcome));
      expect(await store.claimIdempotency({ ...claim, leaseOwner: "host-2" })).toEqual(recordOf(outcome));
    });

    test("keeps out the outcome of anybody else while its lease lasts", async () => {
      const { store } = subject;
      const claim = idempotencyClaim(newTenant());
      const { tenant, digest, leaseUntilMs } = claim;
      await store.claimIdempotency(claim);
      const refusal = { type: "idempotency", record: { digest, state: "pending", leaseUntilMs } };
      for (const more of [{}, { leaseOwner: "host-2" }]) {
        const idempotency = idempotencyOutcome(tenant, { ...more, nowMs: leaseUntilMs - 1 });
        expect(await refused(store, { tenant, idempotency })).toEqual(refusal);
      }
      await accept(store, { tenant, idempotency: idempotencyOutcome(tenant, { nowMs: leaseUntilMs }) });
    });

    test("that another host took over refuses the outcome of the first", async () => {
      const { store } = subject;
      const claim = idempotencyClaim(newTenant());
      const { tenant, leaseUntilMs: nowMs } = claim;
      await store.claimIdempotency(claim);
      const takeover = { ...claim, leaseOwner: "host-2", nowMs, leaseUntilMs: nowMs + HOUR, digest: "second" };
      expect(await store.claimIdempotency({ ...takeover, nowMs: nowMs - 1 })).toMatchObject({ state: "pending" });
      expect(await store.claimIdempotency(takeover)).toBeUndefined();

      const late = idempotencyOutcome(tenant, { leaseOwner: "host-1", nowMs });
      expect(await refused(store, { tenant, idempotency: late })).toMatchObject({ record: { digest: "second" } });
      await accept(store, { tenant, idempotency: { ...late, leaseOwner: "host-2" } });
    });

    test("succeeds for exactly one of many", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const claims = upTo(20).map((n) => idempotencyClaim(tenant, { leaseOwner: `host-${n}`, digest: `${n}` }));
      const standing = await Promise.all(claims.map((claim) => store.claimIdempotency(claim)));
      const winner = standing.indexOf(undefined);
      expect(standing.filter((record) => record === undefined)).toHaveLength(1);
      expect(standing.filter((record) => record?.digest === `${winner}`)).toHaveLength(19);
    });

    test("replaces a record that has expired or a failure that may be repeated", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await accept(store, { tenant, idempotency: idempotencyOutcome(tenant, { expiresAtMs: NOW + HOUR }) });
      const late = idempotencyClaim(tenant, { nowMs: NOW + HOUR, leaseUntilMs: NOW + HOUR + 10, digest: "late" });
      expect(await store.claimIdempotency({ ...late, nowMs: NOW + HOUR - 1 })).toMatchObject({ state: "completed" });
      expect(await store.claimIdempotency(late)).toBeUndefined();
      expect(await store.readIdempotency(late, NOW + HOUR)).toMatchObject({ state: "pending", digest: "late" });

      const key = "k-2";
      await accept(store, { tenant, idempotency: idempotencyOutcome(tenant, { key, state: "retryable-failure" }) });
      expect(await store.claimIdempotency(idempotencyClaim(tenant, { key }))).toBeUndefined();
    });

    test("can be given up by its owner only, and only while it is pending", async () => {
      const { store } = subject;
      const claim = idempotencyClaim(newTenant());
      const { tenant } = claim;
      await store.claimIdempotency(claim);
      await store.releaseIdempotency(claim, "host-2");
      expect(await store.readIdempotency(claim, NOW)).toMatchObject({ state: "pending" });
      await store.releaseIdempotency(claim, "host-1");
      expect(await store.readIdempotency(claim, NOW)).toBeUndefined();

      await store.claimIdempotency(claim);
      await accept(store, { tenant, idempotency: idempotencyOutcome(tenant, { leaseOwner: "host-1" }) });
      await store.releaseIdempotency(claim, "host-1");
      expect(await store.readIdempotency(claim, NOW)).toMatchObject({ state: "completed" });
    });
  });
}
