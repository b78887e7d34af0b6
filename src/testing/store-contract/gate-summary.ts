import { describe, expect, test } from "vitest";
import type { GateSummaryQuery, GateSummaryRow } from "../../store/port/gates.ts";
import type { Store } from "../../store/port/store.ts";
import { HOUR, NOW, newTenant, next, runWrite, type StartedRun } from "../builders.ts";
import { type Asked, interruptResolved, openGate, runCancelled, voteRecorded } from "../gate-builders.ts";
import { turnsOfOthers } from "../turns.ts";
import { accept, type Subject, save, upTo } from "./subject.ts";

const NOTHING: GateSummaryRow = {
  key: "",
  opened: 0,
  decided: 0,
  rejected: 0,
  timedOut: 0,
  overridden: 0,
  medianSeconds: null,
  p95Seconds: null,
  underTenSeconds: 0,
};

interface Decided {
  readonly afterMs?: number;
  readonly outcome?: string;
  readonly timeout?: true;
  readonly voters?: readonly (
    | string
    | { readonly voter: string; readonly principal: string; readonly override?: true }
  )[];
}

/** Opens a gate and lets it be decided. */
async function decided(store: Store, start: StartedRun, asked: Asked = {}, how: Decided = {}): Promise<void> {
  const gate = openGate(start, asked);
  await save(store, gate);
  const at = Date.parse(gate.run.updatedAt) + (how.afterMs ?? 1000);
  const votes = (how.voters ?? []).map((one) =>
    typeof one === "string"
      ? voteRecorded(gate.interruptId, one)
      : voteRecorded(gate.interruptId, one.voter, "accept", {
          principal: one.principal,
          ...(one.override ? { override: true } : {}),
        }),
  );
  const why = how.timeout ? { reason: "timeout" } : {};
  await save(store, next(gate, at, ...votes, interruptResolved(gate.interruptId, how.outcome ?? "granted", why)));
}

export function gateSummaries(subject: Subject): void {
  describe("a summary of gates", () => {
    const summary = (tenant: string, query: GateSummaryQuery = {}) => subject.store.gateSummary({ tenant }, query);

    test("of nothing has no groups", async () => {
      expect(await summary(newTenant())).toEqual([]);
      expect(await summary(newTenant(), { groupBy: "principal" })).toEqual([]);
    });

    test("counts what became of approvals, and of nothing else", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await save(store, openGate({ tenant }));
      await decided(store, { tenant });
      await decided(store, { tenant }, {}, { outcome: "rejected", afterMs: 10_000 });
      await decided(store, { tenant }, {}, { outcome: "refined", afterMs: 9_999 });
      await decided(store, { tenant }, {}, { outcome: "rejected", timeout: true, afterMs: HOUR });
      await decided(store, { tenant }, {}, { voters: [{ voter: "ada", principal: "ada", override: true }] });
      const ended = openGate({ tenant });
      await save(store, ended);
      await save(store, next(ended, NOW + 1, runCancelled()));
      await decided(store, { tenant }, { kind: "clarification", data: { questions: [] } });

      expect(await summary(tenant)).toEqual([
        {
          key: "",
          opened: 7,
          decided: 4,
          rejected: 1,
          timedOut: 1,
          overridden: 1,
          medianSeconds: 1,
          p95Seconds: 10,
          underTenSeconds: 3,
        },
      ]);
    });

    test("ranks times to the nearest: of twenty the tenth and the nineteenth, of one that one", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const seconds = upTo(20).map((n) => n + 1);
      for (const n of seconds.toSorted((a, b) => (a % 7) - (b % 7))) {
        await decided(store, { tenant, workflowId: "wf-many" }, {}, { afterMs: n * 1000 });
      }
      await decided(store, { tenant, workflowId: "wf-one" }, {}, { afterMs: 2500 });
      await save(store, openGate({ tenant, workflowId: "wf-open" }));
      const times = (await summary(tenant, { groupBy: "workflow" })).map((row) => [
        row.key,
        row.medianSeconds,
        row.p95Seconds,
      ]);
      expect(times).toEqual([
        ["wf-many", 10, 19],
        ["wf-one", 2.5, 2.5],
        ["wf-open", null, null],
      ]);
    });

    test("groups by workflow, by node and by day", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await decided(store, { tenant, workflowId: "wf-a" }, { nodeId: "n1" });
      await decided(store, { tenant, workflowId: "wf-a" }, { nodeId: "n2", atMs: NOW + 12 * HOUR - 1 });
      await decided(store, { tenant, workflowId: "wf-b" }, { nodeId: "n1", atMs: NOW + 12 * HOUR });
      const counts = async (groupBy: NonNullable<GateSummaryQuery["groupBy"]>) =>
        (await summary(tenant, { groupBy })).map(({ key, opened }) => [key, opened]);
      expect(await counts("workflow")).toEqual([
        ["wf-a", 2],
        ["wf-b", 1],
      ]);
      expect(await counts("node")).toEqual([
        ["wf-a n1", 1],
        ["wf-a n2", 1],
        ["wf-b n1", 1],
      ]);
      expect(await counts("day")).toEqual([
        ["2027-03-01", 2],
        ["2027-03-02", 1],
      ]);
    });

    test("by principal is of the gates at which each voted, counting a gate once", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const relayed = (voter: string) => ({ voter, principal: "relay" });
      await decided(store, { tenant }, {}, { voters: ["ada", "bob"], afterMs: 4000 });
      await decided(store, { tenant }, {}, { voters: ["ada"], outcome: "rejected", afterMs: 20_000 });
      await decided(store, { tenant }, {}, { voters: [relayed("x"), relayed("y")] });
      const override = { voter: "bob", principal: "bob", override: true } as const;
      await decided(store, { tenant }, {}, { voters: ["ada", override], afterMs: 6000 });
      await decided(store, { tenant }, {}, { voters: [] });

      const one = { ...NOTHING, opened: 1, decided: 1, medianSeconds: 1, p95Seconds: 1, underTenSeconds: 1 };
      expect(await summary(tenant, { groupBy: "principal" })).toEqual([
        {
          ...one,
          key: "ada",
          opened: 3,
          decided: 3,
          rejected: 1,
          medianSeconds: 6,
          p95Seconds: 20,
          underTenSeconds: 2,
        },
        {
          ...one,
          key: "bob",
          opened: 2,
          decided: 2,
          overridden: 1,
          medianSeconds: 4,
          p95Seconds: 6,
          underTenSeconds: 2,
        },
        { ...one, key: "relay" },
      ]);
    });

    test("is the same for more gates than are read in one go, and others have their turn meanwhile", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const GATES = 4500;
      for (let n = 0; n < GATES; n += 500) {
        const gates = upTo(500).map((i) => openGate({ tenant }, { nodeId: `n${i % 3}`, atMs: NOW + n + i }));
        await accept(store, { tenant, runs: gates.map((gate) => runWrite(gate)) });
      }
      const turns = turnsOfOthers();
      const [all] = await summary(tenant);
      expect(turns()).toBeGreaterThan(1);
      expect(all).toEqual({ ...NOTHING, opened: GATES });
      const byNode = await summary(tenant, { groupBy: "node" });
      expect(byNode.map(({ opened }) => opened)).toEqual([1503, 1503, 1494]);
      expect(await summary(tenant, { fromMs: NOW + 10, toMs: NOW + 4010 })).toEqual([{ ...NOTHING, opened: 4000 }]);
    });

    test("can be of a time and of one workflow", async () => {
      const { store } = subject;
      const tenant = newTenant();
      for (const n of upTo(4)) {
        const workflowId = n % 2 === 0 ? "wf-a" : "wf-b";
        await decided(store, { tenant, workflowId }, { atMs: NOW + n * HOUR }, { voters: ["ada"] });
      }
      for (const groupBy of ["workflow", "principal"] as const) {
        const opened = async (query: GateSummaryQuery) =>
          (await summary(tenant, { ...query, groupBy })).reduce((sum, row) => sum + row.opened, 0);
        expect(await opened({})).toBe(4);
        expect(await opened({ fromMs: NOW + HOUR, toMs: NOW + 3 * HOUR })).toBe(2);
        expect(await opened({ fromMs: NOW + HOUR + 1 })).toBe(2);
        expect(await opened({ workflowId: "wf-a", toMs: NOW + 2 * HOUR })).toBe(1);
      }
    });

    test("is of what the caller sees", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      await decided(store, { tenant, workspace: "w1" }, {}, { voters: ["ada"] });
      await decided(store, { tenant }, {}, { voters: ["bob"] });
      await decided(store, { tenant: other, workspace: "w1" }, {}, { voters: ["cy"] });
      for (const [visible, names] of [
        [{ tenant }, ["ada", "bob"]],
        [{ tenant, workspace: "w1" }, ["ada"]],
        [{ tenant, workspace: "w2" }, []],
        [{ tenant: other }, ["cy"]],
      ] as const) {
        const [all] = await store.gateSummary(visible, {});
        expect(all?.opened ?? 0).toBe(names.length);
        const byPrincipal = await store.gateSummary(visible, { groupBy: "principal" });
        expect(byPrincipal.map(({ key }) => key)).toEqual(names);
      }
    });
  });
}
