import { expect, test } from "vitest";
import { startersIn, startersText } from "./starters.ts";

test.each([[["ada"]], [["ada", "eve"]], [["[odd"]], [['["ada"]']], [[]]])(
  "starters are read as they were written: %j",
  (names) => {
    expect(startersIn(startersText(names))).toEqual(names);
  },
);

test("one name is stored as it is, as by earlier versions", () => {
  expect(startersText(["ada"])).toBe("ada");
  expect(startersIn("[not json")).toEqual(["[not json"]);
  expect(startersIn("[1]")).toEqual(["[1]"]);
  expect(startersIn(null)).toEqual([]);
});
