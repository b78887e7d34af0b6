import { describe, expect, test } from "vitest";
import { GroupCommit, type Settled, TenantLine } from "./group-commit.ts";

/** Commits that end when the test says so. */
function controlled() {
  const batches: { items: readonly number[]; finish(settled: Settled<string>[]): void; fail(error: Error): void }[] =
    [];
  const group = new GroupCommit<{ n: number; size: number }, string>(
    (items) => new Promise((finish, fail) => void batches.push({ items: items.map(({ n }) => n), finish, fail })),
    (item) => item.size,
  );
  const add = (n: number, size = 1) => group.add({ n, size });
  const started = async (count: number) => {
    while (batches.length < count) await new Promise(setImmediate);
    const batch = batches[count - 1];
    if (batch === undefined) throw new Error("no such batch");
    return batch;
  };
  return { group, add, started };
}

describe("a group commit", () => {
  test("takes together what arrived while the last one was under way", async () => {
    const { add, started } = controlled();
    const first = add(1);
    const batch = await started(1);
    const rest = [add(2), add(3)];
    batch.finish([{ result: "one" }]);
    expect(await first).toBe("one");

    const second = await started(2);
    expect(second.items).toEqual([2, 3]);
    second.finish([{ result: "two" }, { error: new Error("three is wrong") }]);
    expect(await rest[0]).toBe("two");
    await expect(rest[1]).rejects.toThrow("three is wrong");
  });

  test("takes together those who were released by the last one", async () => {
    const { add, started } = controlled();
    const twice = async (n: number) => [await add(n), await add(n + 10)];
    const callers = [twice(1), twice(2)];
    (await started(1)).finish([{ result: "a" }, { result: "b" }]);
    const second = await started(2);
    expect(second.items).toEqual([11, 12]);
    second.finish([{ result: "c" }, { result: "d" }]);
    expect(await Promise.all(callers)).toEqual([
      ["a", "c"],
      ["b", "d"],
    ]);
  });

  test("that fails as a whole fails all of its callers, and the next one is tried", async () => {
    const { add, started } = controlled();
    const both = [add(1), add(2)];
    (await started(1)).fail(new Error("disk on fire"));
    for (const one of both) await expect(one).rejects.toThrow("disk on fire");
    const next = add(3);
    (await started(2)).finish([{ result: "three" }]);
    expect(await next).toBe("three");
  });

  test("does not grow without bounds, but takes what is larger than that by itself", async () => {
    const { add, started } = controlled();
    const large = [add(1, 9e6), add(2, 6e6), add(3, 2e6), add(4, 30e6), add(5)];
    const batches: (readonly number[])[] = [];
    for (const n of [1, 2, 3, 4]) {
      const { items, finish } = await started(n);
      batches.push(items);
      finish(items.map(() => ({ result: "done" })));
    }
    await Promise.all(large);
    expect(batches).toEqual([[1, 2], [3], [4], [5]]);
  });

  test("lets tenants take turns, so that large items of one do not keep those of others waiting", async () => {
    const batches: string[][] = [];
    const group = new GroupCommit<string, string>(
      async (items) => {
        batches.push([...items]);
        return items.map((item) => ({ result: item }));
      },
      (item) => (item.startsWith("a") ? 10e6 : 1),
      { tenantOf: (item) => item[0] ?? "" },
    );
    await Promise.all(["a1", "a2", "a3", "a4", "b1", "b2"].map((item) => group.add(item)));
    expect(batches).toEqual([["a1", "b1"], ["a2", "b2"], ["a3"], ["a4"]]);
  });

  test("is idle when everything has ended", async () => {
    const { group, add, started } = controlled();
    await group.idle();
    const one = add(1);
    let idle = false;
    const waiting = group.idle().then(() => {
      idle = true;
    });
    const batch = await started(1);
    expect(idle).toBe(false);
    batch.finish([{ result: "one" }]);
    await waiting;
    expect(await one).toBe("one");
  });
});

function lineOf(...items: readonly string[]): TenantLine<string> {
  const line = new TenantLine<string>();
  for (const item of items) line.add(item[0] ?? "", item);
  return line;
}

function all(line: TenantLine<string>, may?: (tenant: string) => boolean): string[] {
  const taken: string[] = [];
  for (let item = line.take(may); item !== undefined; item = line.take(may)) taken.push(item);
  return taken;
}

test("tenants take turns, and each has its items in order", () => {
  expect(all(lineOf("a1", "a2", "a3", "b1", "c1", "b2"))).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("a tenant that may not have its turn lets the others pass, and one that waits no longer is passed over", () => {
  const line = lineOf("a1", "a2", "b1", "b2");
  expect(all(line, (tenant) => tenant !== "a")).toEqual(["b1", "b2"]);
  line.remove("a", "a1");
  line.remove("a", "a1");
  line.remove("c", "c1");
  expect(line.size).toBe(1);
  expect(all(line)).toEqual(["a2"]);
  expect(line.size).toBe(0);
});
