import { expect, test } from "vitest";
import type { Unit } from "../port/store.ts";
import { flattenUnit } from "./flatten-unit.ts";
import { joinWrites, type Operation, splitWrites } from "./operations.ts";

function unitOf(artifacts: number): Operation {
  const body = new Uint8Array(1);
  const rows = Array.from({ length: artifacts }, (_, i) => ({
    runId: "run-1",
    artifactId: `a${i}`,
    artifactType: "text",
    contentType: "text/plain",
    body,
    atMs: 1,
  }));
  return { kind: "unit", unit: flattenUnit({ tenant: "t", artifacts: rows } satisfies Unit) };
}

test("the writes of a long unit travel in pieces ahead of their batch and are joined in their order", () => {
  const batch = [unitOf(3), unitOf(5000), unitOf(4001)];
  const { parts, rest } = splitWrites(batch);
  expect(parts.map(({ index, writes }) => [index, writes.length])).toEqual([
    [1, 2000],
    [1, 2000],
    [1, 1000],
    [2, 2000],
    [2, 2000],
    [2, 1],
  ]);
  expect(joinWrites(rest, parts)).toEqual(batch);
  expect(splitWrites([unitOf(3)])).toEqual({ parts: [], rest: [unitOf(3)] });
});
