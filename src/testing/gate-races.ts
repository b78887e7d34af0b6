import { describe, expect, test } from "vitest";
import type { Host } from "../engine/host.ts";
import type { RunEventDoc } from "../protocol/events.ts";
import type { Caller } from "../protocol/identity/identity.ts";
import type { Run } from "../protocol/runs/run.ts";
import { begin, logOf, register, until } from "./engine.ts";
import { expectAllRebuilt } from "./rebuilt.ts";
import { upTo } from "./store-contract/subject.ts";
import { answer, cancel, enrol, outcomeOf, outcomesOf } from "./voters.ts";
import { ended } from "./workbench.ts";
import { workflow } from "./workflow.ts";

/** One database, and every host on it; each has a worker. */
export interface Arena {
  readonly hosts: readonly Host[];
  readonly rounds: number;
}

const ACCEPT = { action: "accept" };
const GRANT = { decision: "granted" };
const GOVERNED = "core.openwop.governance.approvalGate";
const PLAIN = "core.approvalGate";

/** What people do at gates at the same moment, through whichever host: exactly one outcome, on any store. */
export function gateRaces(arena: Arena): void {
  const hostFor = (n: number) => arena.hosts[n % arena.hosts.length] as Host;
  const store = () => hostFor(0).store;

  const waiting = async (typeId: string, config: Readonly<Record<string, unknown>>): Promise<string> => {
    const nodes = { gate: { typeId, config }, next: "core.noop" };
    const workflowId = await register(hostFor(0), workflow({ nodes, edges: ["gate>next"] }));
    const runId = await begin(hostFor(1), { workflowId });
    await until(store(), runId, ({ interrupts }) => Object.keys(interrupts).length > 0);
    return runId;
  };
  const voters = (count: number): Promise<Caller[]> =>
    Promise.all(upTo(count).map((n) => enrol(store(), `voter-${n}`)));
  const ending = (runId: string): Promise<Run> => until(store(), runId, ended);

  describe("many who vote at once", () => {
    test.each([
      [GOVERNED, { requiredRole: "reviewer", quorum: 5 }, GRANT],
      [PLAIN, { requiredApprovals: 5 }, ACCEPT],
    ])("at %s: the fifth opens it, the votes after that come too late", async (typeId, config, value) => {
      const crowd = await voters(12);
      for (const _ of upTo(3)) {
        const runId = await waiting(typeId, config);
        const counts = await outcomesOf(crowd.map((voter, n) => answer(hostFor(n), voter, runId, value)));
        expect(counts).toEqual({ ok: 5, interrupt_already_resolved: 7 });
        expect((await ending(runId)).status).toBe("completed");
        expectReleasedBy(await logOf(store(), runId), 5);
      }
    });

    test("open nothing when they are fewer than asked for, however often each of them votes", async () => {
      const crowd = await voters(3);
      const runId = await waiting(GOVERNED, { requiredRole: "reviewer", quorum: 4 });
      const votes = upTo(24).map((n) => answer(hostFor(n), crowd[n % 3] as Caller, runId, GRANT));
      expect(await outcomesOf(votes)).toEqual({ ok: 24 });
      const run = await until(store(), runId, () => true);
      expect(run.status).toBe("waiting-approval");
      expect(Object.values(run.interrupts)[0]?.votes).toHaveLength(3);
      expect(typesOf(await logOf(store(), runId))).not.toContain("interrupt.resolved");
    });

    test("open nothing when they are agents, and a person is asked for", async () => {
      const agents = await Promise.all(upTo(8).map((n) => enrol(store(), `agent-${n}`, { kind: "agent" })));
      const runId = await waiting(PLAIN, { requiredApprovals: 2, minHumans: 1 });
      expect(await outcomesOf(agents.map((agent, n) => answer(hostFor(n), agent, runId, ACCEPT)))).toEqual({ ok: 8 });
      expect((await until(store(), runId, () => true)).status).toBe("waiting-approval");
      const [person] = await voters(1);
      expect(await outcomeOf(answer(hostFor(1), person as Caller, runId, ACCEPT))).toBe("ok");
      expect((await ending(runId)).status).toBe("completed");
    });

    test("come to one outcome when one of them rejects", async () => {
      const crowd = await voters(6);
      for (const round of upTo(arena.rounds)) {
        const runId = await waiting(GOVERNED, { requiredRole: "reviewer", quorum: 3 });
        const acts = crowd.map((voter, n) =>
          answer(hostFor(n), voter, runId, n === round % 6 ? { decision: "rejected" } : GRANT),
        );
        const { ok = 0, ...others } = await outcomesOf(acts);
        expect(Object.keys(others)).toEqual(["interrupt_already_resolved"]);
        const run = await ending(runId);
        const log = await logOf(store(), runId);
        expect(countOf(log, "interrupt.resolved")).toBe(1);
        expect(countOf(log, "assay.vote.recorded")).toBe(ok);
        const { outcome } = payloadOf(log, "interrupt.resolved");
        expect(run.status).toBe(outcome === "granted" ? "completed" : "failed");
        if (outcome === "granted") expectReleasedBy(log, 3);
        else expect(run.nodes["next"]).toBeUndefined();
      }
    });
  });

  test("the same answer many times at once is taken once", async () => {
    const crowd = await voters(2);
    for (const _ of upTo(arena.rounds)) {
      const runId = await waiting(PLAIN, {});
      const acts = upTo(8).map((n) => answer(hostFor(n), crowd[n % 2] as Caller, runId, ACCEPT));
      expect(await outcomesOf(acts)).toEqual({ ok: 1, interrupt_already_resolved: 7 });
      expect((await ending(runId)).status).toBe("completed");
      expect(countOf(await logOf(store(), runId), "interrupt.resolved")).toBe(1);
    }
  });

  test("an answer and a cancellation at once: one is first, and the run ends in any case", async () => {
    const [voter] = await voters(1);
    const boss = await enrol(store(), "boss", { roles: ["owner"] });
    for (const round of upTo(arena.rounds)) {
      const runId = await waiting(PLAIN, {});
      const acts = [
        () => answer(hostFor(round), voter as Caller, runId, ACCEPT),
        () => cancel(hostFor(round + 1), boss, runId),
      ];
      if (round % 2 === 1) acts.reverse();
      const results = await Promise.all(acts.map((act) => outcomeOf(act())));
      if (round % 2 === 1) results.reverse();
      const [answered, cancelled] = results;
      expect(cancelled).toBe("ok");
      const run = await ending(runId);
      const log = await logOf(store(), runId);
      expect(typesOf(log).filter((type) => /^run\.(completed|failed|cancelled)$/.test(type))).toHaveLength(1);
      expect(Object.values(run.interrupts)[0]?.status).toBe(answered === "ok" ? "resolved" : "cancelled");
      expect(countOf(log, "interrupt.resolved")).toBe(answered === "ok" ? 1 : 0);
      if (answered !== "ok") expect([answered, run.status]).toEqual(["interrupt_cancelled", "cancelled"]);
    }
  });

  test("an answer at the deadline is in time or too late, never both", async () => {
    const [voter] = await voters(1);
    const round = async (n: number): Promise<void> => {
      const runId = await waiting(GOVERNED, { requiredRole: "reviewer", timeoutSec: 0.15 });
      const { interrupts } = await until(store(), runId, () => true);
      const { deadlineMs = 0 } = Object.values(interrupts)[0] ?? {};
      await new Promise((resolve) => setTimeout(resolve, deadlineMs - Date.now() + (n % 10) * 3 - 20));
      const answered = await outcomeOf(answer(hostFor(n), voter as Caller, runId, GRANT));
      const run = await ending(runId);
      const log = await logOf(store(), runId);
      expect(countOf(log, "interrupt.resolved")).toBe(1);
      const { outcome, reason } = payloadOf(log, "interrupt.resolved");
      if (answered === "ok") expect([outcome, run.status]).toEqual(["granted", "completed"]);
      else expect([answered, outcome, reason, run.status]).toEqual(LATE);
    };
    for (let n = 0; n < arena.rounds; n += 10) await Promise.all(upTo(10).map((more) => round(n + more)));
  });

  test("afterwards every row is what its log says", async () => {
    await expectAllRebuilt(store());
  });
}

const LATE = ["interrupt_already_resolved", "rejected", "timeout", "failed"];

const typesOf = (log: readonly RunEventDoc[]): string[] => log.map(({ type }) => type);
const countOf = (log: readonly RunEventDoc[], type: string): number =>
  typesOf(log).filter((one) => one === type).length;
const payloadOf = (log: readonly RunEventDoc[], type: string) =>
  log.find((event) => event.type === type)?.payload as Record<string, unknown>;

/** Exactly this many principals had voted for it when it opened, and it opened once. */
function expectReleasedBy(log: readonly RunEventDoc[], required: number): void {
  const at = typesOf(log).indexOf("interrupt.resolved");
  const votes = log.slice(0, at).filter(({ type }) => type === "assay.vote.recorded");
  expect(new Set(votes.map(({ payload }) => (payload as { principal: string }).principal)).size).toBe(required);
  expect(votes).toHaveLength(required);
  expect(countOf(log, "interrupt.resolved")).toBe(1);
  expect(countOf(log, "node.resumed")).toBe(1);
}
