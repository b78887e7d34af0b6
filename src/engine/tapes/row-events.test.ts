import { expect, test } from "vitest";
import { isId, timeOfId } from "../../protocol/id.ts";
import { MAX_SIDECAR_ROWS } from "../../protocol/tapes/api.ts";
import { isSameRow, rowAnnotationId } from "./row-events.ts";

const RUN = "run-01k2v6w0d9q3c5x7m8n4p2r1st";

test("ids of rows ascend with their place in the file, whatever the rows are called", () => {
  const places = [0, 1, 2, 31, 32, 255, 256, 1023, 1024, 32_767, 32_768, MAX_SIDECAR_ROWS - 1];
  const ids = places.map((place) => rowAnnotationId(RUN, place, `row ${place % 3}`));
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) {
    expect(isId(id)).toBe(true);
    expect(timeOfId(id)).toBe(timeOfId(RUN));
  }
});

test("the id of a row depends on run, place and name only", () => {
  const id = rowAnnotationId(RUN, 7, "a");
  expect(rowAnnotationId(RUN, 7, "a")).toBe(id);
  expect(rowAnnotationId(RUN, 7, "b")).not.toBe(id);
  expect(rowAnnotationId(RUN.replace("st", "sv"), 7, "a")).not.toBe(id);
});

test("a row that has moved in its file is known again, and no other is taken for it", () => {
  const id = rowAnnotationId(RUN, 7, "a");
  expect(isSameRow(rowAnnotationId(RUN, 8, "a"), id)).toBe(true);
  expect(isSameRow(rowAnnotationId(RUN, 7, "b"), id)).toBe(false);
  expect(isSameRow(undefined, id)).toBe(false);
});
