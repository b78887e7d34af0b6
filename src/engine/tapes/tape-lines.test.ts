import { expect, test } from "vitest";
import { fileLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { sidecar } from "../../testing/sidecar-client.ts";
import { rowLinesInTurns, Turns } from "./tape-lines.ts";

test("a long file is read with other work in between", async () => {
  const given = Array.from({ length: 2000 }, (_, i) => ({ id: `${i}`, evidence: "word ".repeat(100) }));
  let turns = 0;
  let next = setImmediate(function others() {
    turns++;
    next = setImmediate(others);
  });
  const { rows } = await rowLinesInTurns(fileLines(sidecar(...given)));
  clearImmediate(next);
  expect(rows).toHaveLength(given.length);
  expect(turns).toBeGreaterThan(5);
});

test("a file of empty lines is read with other work in between as well", async () => {
  const turns = new Turns();
  const pauses = Array.from({ length: 50_000 }, () => turns.after(0)).filter((pause) => pause !== undefined);
  expect(pauses.length).toBeGreaterThan(5);
  await Promise.all(pauses);
});
