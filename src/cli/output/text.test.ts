import { describe, expect, test } from "vitest";
import { closestTo } from "../../protocol/closest-to.ts";
import { assignments } from "../files/arguments.ts";
import { formatAgo, formatBytes, formatCount, formatDuration, formatRoughly, fromNow } from "./amount.ts";
import { paintFor } from "./io.ts";
import { printable, shorten } from "./printable.ts";
import { formatFields, formatTable } from "./table.ts";

const plain = paintFor(false);
const coloured = paintFor(true);

describe("a table", () => {
  test("is aligned and does not end its lines in spaces", () => {
    const rows = [
      ["a", "completed", ""],
      ["longer", "x", "end"],
    ];
    expect(formatTable(["ID", "STATUS", "MORE"], rows, plain)).toBe(
      ["ID      STATUS     MORE", "a       completed", "longer  x          end"].join("\n"),
    );
  });

  test("is aligned with colours too", () => {
    const table = formatTable(["A", "B"], [[coloured.red("x"), "y"]], plain);
    expect(table).toBe(`A  B\n${coloured.red("x")}  y`);
  });

  test("of fields leaves out what is not there", () => {
    expect(formatFields({ Run: "r", Ended: undefined, Status: "s" }, plain)).toBe("Run     r\nStatus  s");
  });
});

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1250, "1.2 s"],
  [59_990, "59.9 s"],
  [61_000, "1m 1s"],
  [3_600_000, "1h"],
  [97_200_000, "1d 3h"],
])("%i ms is %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [-5, "0 s"],
  [999, "0 s"],
  [16_900, "16 s"],
  [61_000, "1m 1s"],
])("%i ms is roughly %s", (ms, text) => {
  expect(formatRoughly(ms)).toBe(text);
});

test("times are told from now", () => {
  const now = Date.parse("2030-01-01T00:01:00Z");
  expect(formatAgo("2030-01-01T00:00:00.000Z", now)).toBe("1m ago");
  expect(formatAgo("2030-01-01T00:00:59.900Z", now)).toBe("just now");
  expect(formatAgo(undefined, now)).toBe("never");
  expect(fromNow("30d", now)).toBe("2030-01-31T00:01:00.000Z");
  expect(fromNow("45m", now)).toBe("2030-01-01T00:46:00.000Z");
  for (const wrong of ["30", "d", "1w", "-1d", "999999999d"]) expect(fromNow(wrong, now), wrong).toBeUndefined();
});

test("amounts have their unit", () => {
  expect(formatCount(1, "entry")).toBe("1 entry");
  expect(formatCount(12_345, "entry")).toBe("12,345 entries");
  expect(formatCount(0, "row")).toBe("0 rows");
  expect(formatBytes(512)).toBe("512 bytes");
  expect(formatBytes(1_440_000)).toBe("1.4 MB");
});

test("a slip of the finger is understood, another word is not", () => {
  const names = ["port", "host", "maxStreams"];
  expect(closestTo("prot", names)).toBe("port");
  expect(closestTo("maxStream", names)).toBe("maxStreams");
  expect(closestTo("colour", names)).toBeUndefined();
});

test("text of others cannot drive the terminal", () => {
  expect(printable("a\u001b[31mb\u009bc\u202ed\ne")).toBe("a\ufffd[31mb\ufffdc\ufffdd e");
  expect(shorten("abcdef", 4)).toBe("abc…");
  expect(shorten("abc", 4)).toBe("abc");
});

test("assignments are JSON where they can be", () => {
  const given = ["n=3", "name=Ada", "list=[1]", 'text="3"', "empty=", "eq=a=b"];
  expect(assignments(given, "--input")).toEqual({ n: 3, name: "Ada", list: [1], text: "3", empty: "", eq: "a=b" });
});
