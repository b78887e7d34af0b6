import { describe, expect, test } from "vitest";
import { workflow } from "../../testing/workflow.ts";
import { type PlanStore, planBytes, plansKept, plansOf } from "./plans.ts";

const MB = 1024 * 1024;

/** Definitions with nodes of many small parts. */
function definition(id: string, nodes: number): string {
  return JSON.stringify(workflow({ id, nodes: Object.fromEntries(names(nodes).map((name) => [name, "core.noop"])) }));
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}

/** A store of these definitions under their ids, with the ids whose definitions were read and how many were read again at once. */
function storeOf(definitions: Readonly<Record<string, string>>) {
  const read: string[] = [];
  let underWay = 0;
  let mostAgainAtOnce = 0;
  const store: PlanStore = {
    readWorkflowHash: async (_tenant, workflowId) => (workflowId in definitions ? workflowId : undefined),
    readWorkflowByHash: async (hash) => {
      const again = read.includes(hash) ? 1 : 0;
      read.push(hash);
      underWay += again;
      mostAgainAtOnce = Math.max(mostAgainAtOnce, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= again;
      const text = definitions[hash];
      return text === undefined ? undefined : { workflowId: hash, hash, definition: text, registeredAtMs: 0 };
    },
  };
  return { store, read, againAtOnce: () => mostAgainAtOnce };
}

describe("kept plans", () => {
  test("take a part of the heap, and no more in a large one", () => {
    expect(plansKept(256 * MB)).toBe(32 * MB);
    expect(plansKept(64_000 * MB)).toBe(128_000_000);
  });

  test("weigh more than their texts, most of all those of many small parts", () => {
    const text = JSON.stringify({ text: "x".repeat(100_000) });
    expect(planBytes(text)).toBeGreaterThanOrEqual(text.length);
    const parts = JSON.stringify(Array.from({ length: 10_000 }, () => ({})));
    expect(planBytes(parts)).toBeGreaterThan(20 * parts.length);
  });

  test("are dropped by weight, the one used least recently first", async () => {
    const definitions = { one: definition("one", 100), two: definition("two", 100), three: definition("three", 100) };
    const { store, read } = storeOf(definitions);
    const plans = plansOf(store, planBytes(definitions.one) * 2.5);
    for (const hash of ["one", "two", "one", "three", "one"]) await plans.byHash(hash);
    expect(read).toEqual(["one", "two", "three"]);
    await plans.byHash("two");
    expect(read).toEqual(["one", "two", "three", "two"]);
  });

  test("are read by hash only, and once for all who ask at the same time", async () => {
    const { store, read } = storeOf({ one: definition("one", 1) });
    const plans = plansOf(store);
    const found = await Promise.all([plans.current("t", "one"), plans.current("t", "one"), plans.byHash("one")]);
    expect(new Set(found).size).toBe(1);
    await plans.current("t", "one");
    expect(read).toEqual(["one"]);
    expect(await plans.current("t", "none")).toBeUndefined();
  });

  test("are refused where there is no definition, and tried again", async () => {
    const definitions: Record<string, string> = {};
    const { store } = storeOf(definitions);
    const plans = plansOf(store);
    await expect(plans.byHash("one")).rejects.toThrow("no workflow definition");
    await expect(plans.titleOf("one")).rejects.toThrow("no workflow definition");
    definitions["one"] = definition("one", 1);
    expect((await plans.byHash("one")).hash).toBe("one");
    expect((await plans.titleOf("one")).id).toBe("one");
  });
});

describe("large definitions", () => {
  const ids = names(20);
  const definitions = Object.fromEntries(ids.map((id) => [id, definition(id, 2000)]));

  test("are made into plans one at a time, however many wait", async () => {
    const { store, read, againAtOnce } = storeOf(definitions);
    const plans = plansOf(store, 1);
    // The first read finds out that a definition is large; it is read again in its turn.
    await Promise.all(ids.map((id) => plans.byHash(id)));
    expect(read).toHaveLength(2 * ids.length);
    expect(againAtOnce()).toBe(1);
  });

  test("keep no small one waiting", async () => {
    const { store } = storeOf({ ...definitions, small: definition("small", 1) });
    const plans = plansOf(store, 1);
    const done: string[] = [];
    const large = ids.map((id) => plans.byHash(id).then(() => void done.push(id)));
    await plans.byHash("small");
    expect(done.length).toBeLessThan(ids.length / 2);
    await Promise.all(large);
  });

  test("are read once for the titles of many lists, without a plan", async () => {
    const { store, read } = storeOf(definitions);
    const plans = plansOf(store);
    const [id = ""] = ids;
    const titles = await Promise.all([plans.titleOf(id), plans.titleOf(id)]);
    expect(titles).toEqual([
      { id, name: "Test workflow", version: "1" },
      { id, name: "Test workflow", version: "1" },
    ]);
    await plans.titleOf(id);
    expect(new Set(read)).toEqual(new Set([id]));
    expect(read.length).toBeLessThanOrEqual(2);
  });
});
