import { expect, test } from "vitest";
import type { TapeRecord } from "../../../formats/tapes/tape.ts";
import { NearEvents } from "./near-events.ts";

function nearTo(wanted: bigint, seqs: readonly bigint[]): string | undefined {
  const near = new NearEvents(wanted);
  for (const seq of seqs) near.take({ seq, kind: { kind: "file_delete", path: "p" } } as TapeRecord);
  return near.text();
}

test("the events next to one that is missing are found, in whatever order the tape has them", () => {
  expect(nearTo(5n, [9n, 1n, 3n, 8n, 2n, 7n, 3n, 20n])).toBe(
    "2 (file_delete), 3 (file_delete), 7 (file_delete), 8 (file_delete)",
  );
  expect(nearTo(50n, [0n, 1n, 2n, 3n])).toBe("2 (file_delete), 3 (file_delete)");
  expect(nearTo(5n, [])).toBe(undefined);
});
