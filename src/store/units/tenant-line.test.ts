import { expect, test } from "vitest";
import { TenantLine } from "./tenant-line.ts";

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
