import { describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import { fold, type Run } from "../../protocol/runs/run.ts";
import type { CorrelationQuery, InterruptQuery, StoredInterrupt, WaitingInterrupt } from "../../store/port/gates.ts";
import type { Store } from "../../store/port/store.ts";
import { allRows } from "../../store/rows/interrupt-rows.ts";
import { auditDraft, HOUR, NOW, newId, newTenant, next, runWrite, sha256, startedRun } from "../builders.ts";
import {
  type Asked,
  accessDenied,
  gateAsked,
  interruptRequested,
  interruptResolved,
  type OpenGate,
  openGate,
  runCancelled,
  voteRecorded,
} from "../gate-builders.ts";
import { accept, eventsOf, refused, type Subject, save, upTo } from "./subject.ts";

async function opened(store: Store, ...gates: readonly OpenGate[]): Promise<string[]> {
  for (const gate of gates) await save(store, gate);
  return gates.map(({ interruptId }) => interruptId);
}

function idsOf(found: readonly WaitingInterrupt[]): string[] {
  return found.map(({ interruptId }) => interruptId);
}

const AWAITED: Asked = {
  kind: "external-event",
  data: { eventType: "order.paid", correlation: { order: 1 } },
  correlationId: sha256("order 1"),
};
const SAME: CorrelationQuery = { correlationId: sha256("order 1"), eventType: "order.paid", open: false, limit: 10 };

const all = (more: Partial<InterruptQuery> = {}): InterruptQuery => ({ limit: 100, nowMs: NOW, ...more });

export function interrupts(subject: Subject): void {
  describe("an open interrupt", () => {
    test("is found with everything the run knows of it, what is sensitive too", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const started = startedRun({ tenant, workspace: "w1", workflowId: "wf-ship" });
      const interruptId = newId("int");
      const ask = interruptRequested(started.run.runId, interruptId, { data: { title: "Pay [REDACTED]?" } });
      const sealed = { ...ask.payload, data: { title: "Pay 4711?" } };
      const { run, events } = next(started, NOW, { ...ask, sealed } as typeof ask);
      await save(store, { run, events: [...started.events, ...events] });

      const stored: StoredInterrupt = {
        interruptId,
        tenant,
        workspace: "w1",
        runId: run.runId,
        workflowId: "wf-ship",
        starters: ["pat"],
        status: "open",
        interrupt: run.interrupts[interruptId] as Interrupt,
      };
      expect(stored.interrupt.data).toEqual({ title: "Pay 4711?" });
      expect(await store.readInterrupt({ tenant }, interruptId)).toEqual(stored);
      expect(await store.openInterrupts({ tenant }, all())).toEqual([stored]);
      expect(await store.interruptsOfRuns({ tenant }, [run.runId, newId("run")])).toEqual([stored]);
      expect(await store.interruptsOfRuns({ tenant }, [])).toEqual([]);
      expect(await store.readInterrupt({ tenant }, newId("int"))).toBeUndefined();
    });

    test("is listed oldest first, a page at a time", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const ids = await opened(store, ...upTo(5).map((n) => openGate({ tenant }, { atMs: NOW + n })));
      const page = async (after?: string) =>
        idsOf(await store.openInterrupts({ tenant }, all({ limit: 2, ...(after === undefined ? {} : { after }) })));
      expect(await page()).toEqual(ids.slice(0, 2));
      expect(await page(ids[1])).toEqual(ids.slice(2, 4));
      expect(await page(ids[3])).toEqual(ids.slice(4));
      expect(await page(ids[4])).toEqual([]);
    });

    test("is listed some at a time where what it shows is large", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const data = { title: "Ship it?", text: "a".repeat(700_000) };
      const large = upTo(5).map((n) => openGate({ tenant }, { atMs: NOW + n, data }));
      const ids = await opened(store, ...large);
      const page = async (after: string) => idsOf(await store.openInterrupts({ tenant }, all({ after })));
      expect(await page("")).toEqual(ids.slice(0, 2));
      expect(await page(ids[1] ?? "")).toEqual(ids.slice(2, 4));
      expect(await page(ids[3] ?? "")).toEqual(ids.slice(4));
      expect(await page(ids[4] ?? "")).toEqual([]);
    });

    test("can be looked for by workflow, kind and run", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const ship = openGate({ tenant, workflowId: "wf-ship" });
      const ask = openGate({ tenant, workflowId: "wf-ask" }, { kind: "clarification", data: { questions: [] } });
      await opened(store, ship, ask);
      const found = async (query: Partial<InterruptQuery>) => idsOf(await store.openInterrupts({ tenant }, all(query)));
      expect(await found({ workflowId: "wf-ship" })).toEqual([ship.interruptId]);
      expect(await found({ kind: "clarification" })).toEqual([ask.interruptId]);
      expect(await found({ runId: ship.run.runId })).toEqual([ship.interruptId]);
      expect(await found({ runId: ship.run.runId, kind: "clarification" })).toEqual([]);
    });

    test("is listed until it is resolved, its time is over or its run ends, and can be read ever after", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [waits, resolved, expired, cancelled] = [1, 2, 3, 4].map((n) => openGate({ tenant }, { atMs: NOW + n }));
      const brief = openGate({ tenant }, { atMs: NOW + 5, timeoutMs: HOUR });
      if (!waits || !resolved || !expired || !cancelled) throw new Error("four gates were opened");
      await opened(store, waits, resolved, expired, cancelled, brief);
      await save(store, next(resolved, NOW + 9, interruptResolved(resolved.interruptId)));
      await save(
        store,
        next(expired, NOW + 9, interruptResolved(expired.interruptId, "rejected", { reason: "timeout" })),
      );
      await save(store, next(cancelled, NOW + 9, runCancelled()));

      const listed = async (nowMs: number) => idsOf(await store.openInterrupts({ tenant }, all({ nowMs })));
      const deadline = NOW + 5 + HOUR;
      expect(await listed(deadline - 1)).toEqual([waits.interruptId, brief.interruptId]);
      expect(await listed(deadline)).toEqual([waits.interruptId]);

      const statusOf = async ({ interruptId }: OpenGate) => {
        const found = await store.readInterrupt({ tenant }, interruptId);
        expect(found?.interrupt.status).toBe(found?.status);
        return found?.status;
      };
      const statuses = await Promise.all([waits, resolved, expired, cancelled, brief].map(statusOf));
      expect(statuses).toEqual(["open", "resolved", "expired", "cancelled", "open"]);
    });

    test("is not there when its unit was refused", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const gate = openGate({ tenant });
      const started = startedRun({ tenant });
      const stale = {
        tenant,
        runs: [
          runWrite(gate),
          runWrite(started, {
            expectedVersion: 7,
            run: { ...started.run, version: 8 },
            events: started.events.map((event) => ({ ...event, sequence: 7 })),
          }),
        ],
      };
      expect((await refused(store, stale)).type).toBe("version");
      expect(await store.openInterrupts({ tenant }, all())).toEqual([]);
      expect(await store.interruptRows(gate.run.runId)).toEqual({ interrupts: [], votes: [] });

      await opened(store, gate);
      const vote = next(gate, NOW, voteRecorded(gate.interruptId, "pat"));
      expect((await refused(store, { tenant, runs: [runWrite(vote, { heldBy: "nobody" })] })).type).toBe("lease");
      expect((await store.interruptRows(gate.run.runId)).votes).toEqual([]);
    });

    test("stays with its run when another run names the same id", async () => {
      const { store } = subject;
      const mine = openGate({ tenant: newTenant() });
      const theirs = openGate({ tenant: newTenant() }, { interruptId: mine.interruptId });
      await opened(store, mine, theirs);
      const found = await store.readInterrupt(mine.run.owner, mine.interruptId);
      expect(found?.runId).toBe(mine.run.runId);
      expect(await store.readInterrupt(theirs.run.owner, mine.interruptId)).toBeUndefined();
    });
  });

  describe("interrupts that wait for the same thing", () => {
    test("are found by their correlation, newest first: all there were, or those that still wait", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const waits = (n: number, more = {}) => openGate({ tenant }, { ...AWAITED, atMs: NOW + n, ...more });
      const [oldest, answered, newest] = [waits(1), waits(2), waits(3, { timeoutMs: 1 })];
      const others = [waits(4, { correlationId: sha256("order 2") }), waits(5, { data: { eventType: "order.lost" } })];
      await opened(store, oldest, answered, newest, ...others);
      await save(store, next(answered, NOW + 9, interruptResolved(answered.interruptId, "answered")));

      const found = async (more: Partial<CorrelationQuery>) =>
        idsOf(await store.interruptsByCorrelation({ tenant }, { ...SAME, ...more }));
      const ids = [newest, answered, oldest].map(({ interruptId }) => interruptId);
      expect(await found({})).toEqual(ids);
      expect(await found({ limit: 2 })).toEqual(ids.slice(0, 2));
      const { interruptId, run } = newest;
      expect(await store.interruptsByCorrelation({ tenant }, { ...SAME, limit: 1 })).toEqual([
        { interruptId, runId: run.runId },
      ]);
      expect(await found({ open: true })).toEqual([ids[0], ids[2]]);
      expect(await found({ correlationId: sha256("order 3") })).toEqual([]);
      expect(await found({ eventType: "order.found" })).toEqual([]);
    });
  });

  describe("a caller of interrupts", () => {
    test("sees none of another tenant or, with a key for one workspace, of another workspace", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      const asked = { correlationId: "c", kind: "external-event" as const, data: { eventType: "order.paid" } };
      const sameThing = { correlationId: "c", eventType: "order.paid", open: false, limit: 10 };
      const inW1 = openGate({ tenant, workspace: "w1" }, { ...asked, atMs: NOW });
      const inNone = openGate({ tenant }, { ...asked, atMs: NOW + 1 });
      const foreign = openGate({ tenant: other, workspace: "w1" }, { ...asked, atMs: NOW + 2 });
      const gates = [inW1, inNone, foreign];
      const everything = await opened(store, ...gates);
      const runIds = gates.map(({ run }) => run.runId);

      const seenBy = async (visible: { tenant: string; workspace?: string }) => {
        const read = await Promise.all(everything.map((id) => store.readInterrupt(visible, id)));
        const seen = idsOf(read.filter((one) => one !== undefined));
        expect(idsOf(await store.openInterrupts(visible, all()))).toEqual(seen);
        expect(idsOf(await store.interruptsOfRuns(visible, runIds)).sort()).toEqual(seen);
        expect(idsOf(await store.interruptsByCorrelation(visible, sameThing)).reverse()).toEqual(seen);
        return seen;
      };
      expect(await seenBy({ tenant })).toEqual([inW1.interruptId, inNone.interruptId]);
      expect(await seenBy({ tenant, workspace: "w1" })).toEqual([inW1.interruptId]);
      expect(await seenBy({ tenant, workspace: "w2" })).toEqual([]);
      expect(await seenBy({ tenant: other })).toEqual([foreign.interruptId]);
      expect(await seenBy({ tenant: newTenant() })).toEqual([]);
    });
  });

  describe("the rows of interrupts and votes", () => {
    /** Compares what is stored with what the log makes of it, and returns it. */
    async function rebuilt(store: Store, runId: string) {
      const run = fold(await eventsOf(store, runId));
      if (run === undefined) throw new Error(`run ${runId} has no events`);
      const stored = await store.interruptRows(runId);
      expect(stored).toEqual(allRows(run));
      return stored as ReturnType<typeof allRows>;
    }

    test("are what the log of the run makes of them, after every event there is", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const gate = openGate({ tenant, workspace: "w1" }, { timeoutMs: HOUR });
      const { interruptId, run } = gate;
      const second = newId("int", NOW + 1);
      await opened(store, gate);
      let last: { run: Run; events: OpenGate["events"] } = gate;
      for (const draft of [
        interruptRequested(run.runId, second, { nodeId: "wait", kind: "external-event", data: { eventType: "paid" } }),
        accessDenied(interruptId),
        gateAsked(interruptId),
        voteRecorded(interruptId, "ada", "reject"),
        voteRecorded(interruptId, "ada"),
        voteRecorded(interruptId, "bob", "accept", { principal: "relay", override: true }),
        interruptResolved(interruptId, "granted", { resolvedBy: "bob", reason: "it is late" }),
        runCancelled(),
      ]) {
        last = next(last, Date.parse(last.run.updatedAt) + 1000, draft);
        await save(store, last);
        await rebuilt(store, run.runId);
      }
      const { interrupts, votes } = await rebuilt(store, run.runId);
      expect(interrupts).toMatchObject([
        { interrupt_id: interruptId, status: "resolved", outcome: "granted", overridden: 1, decided_by: "bob" },
        { interrupt_id: second, status: "cancelled", event_type: "paid", closed_at: NOW + 8000 },
      ]);
      expect(interrupts[0]).toMatchObject({ requested_at: NOW, deadline: NOW + HOUR, closed_at: NOW + 7000 });
      expect(votes).toMatchObject([
        { voter: "ada", action: "accept", override: 0, opened_at: NOW, voted_at: NOW + 5000 },
        { voter: "bob", principal: "relay", override: 1, workspace: "w1" },
      ]);
    });

    test("follow when a whole story is one write", async () => {
      const { store } = subject;
      const gate = openGate({ tenant: newTenant() });
      const { interruptId } = gate;
      const rest = next(gate, NOW, voteRecorded(interruptId, "ada"), interruptResolved(interruptId), runCancelled());
      await save(store, { run: rest.run, events: [...gate.events, ...rest.events] });
      expect((await rebuilt(store, gate.run.runId)).votes).toHaveLength(1);
    });

    test("lose the votes that somebody's edit takes away", async () => {
      const { store } = subject;
      const gate = openGate({ tenant: newTenant() });
      const { interruptId, run } = gate;
      await opened(store, gate);
      const voted = next(gate, NOW, voteRecorded(interruptId, "ada"), voteRecorded(interruptId, "bob", "reject"));
      await save(store, voted);
      await save(store, next(voted, NOW, voteRecorded(interruptId, "cy", "edit-accept", { editedArtifactData: 2 })));
      const { votes } = await rebuilt(store, run.runId);
      expect(votes.map(({ voter }) => voter)).toEqual(["bob", "cy"]);
    });

    test("are the last ones when votes are committed at the same moment", async () => {
      const { store } = subject;
      const gate = openGate({ tenant: newTenant() });
      await opened(store, gate);
      const writes = [];
      let last: { run: Run; events: OpenGate["events"] } = gate;
      for (const n of upTo(10)) {
        last = next(last, NOW + n, voteRecorded(gate.interruptId, `voter-${n % 5}`, n < 5 ? "reject" : "accept"));
        writes.push(save(store, last));
      }
      await Promise.all(writes);
      const { votes } = await rebuilt(store, gate.run.runId);
      expect(votes.map(({ voter, action }) => [voter, action])).toEqual(upTo(5).map((n) => [`voter-${n}`, "accept"]));
    });

    test("do not change with events that are about something else", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const gate = openGate({ tenant });
      await opened(store, gate);
      const before = await store.interruptRows(gate.run.runId);
      const denied = { principal: "eve", action: "runs:cancel", resource: `run:${gate.run.runId}`, allowed: false };
      await accept(store, {
        tenant,
        runs: [runWrite(next(gate, NOW, { type: "authorization.decided", payload: denied }))],
        audit: [auditDraft()],
      });
      expect(await store.interruptRows(gate.run.runId)).toEqual(before);
    });
  });

  describe("a run that was stored before there were gates", () => {
    test("is read as one that has none", async () => {
      const { store } = subject;
      const built = startedRun({ tenant: newTenant() });
      const { interrupts: _, children: __, visits: ___, ...old } = built.run;
      await save(store, { ...built, run: old as Run });
      const { runId, owner } = built.run;
      expect(await store.readRun(owner, runId)).toEqual(built.run);
      expect(await store.readRun({ ...owner }, runId)).toMatchObject({ interrupts: {}, children: {}, visits: {} });
      expect(await store.listRuns(owner, { limit: 1 })).toEqual([built.run]);
      expect((await store.runRow(runId))?.state).toEqual(built.run);
      const claim = { owner: "w", nowMs: NOW, untilMs: NOW + 1, limit: 1, engineVersion: ENGINE_VERSION };
      expect(await store.claimRuns(claim)).toEqual([built.run]);
    });
  });
}
