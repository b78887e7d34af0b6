import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import { exportChoice, isSelected } from "./export.ts";

describe("what to export", () => {
  test("is everything as it stands, unless said otherwise", () => {
    const choice = exportChoice("s", [], undefined);
    expect(choice.format).toBe("jsonl");
    expect(isSelected(choice, aRow({ kind: "unknown" }))).toBe(true);
  });

  test("is the same for a format that is empty", () => {
    expect(exportChoice("s", [], "").format).toBe("jsonl");
  });

  test("is every kind that is named", () => {
    const choice = exportChoice("s", ["note", "mute", "note"], "friction");
    expect([aRow(), aRow({ kind: "mute" }), aRow({ kind: "marker" })].map((row) => isSelected(choice, row))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test.each(["unknown", "", "Note", "note,mute"])("is never of a kind called %j", (word) => {
    expect(() => exportChoice("s", ["note", word], "csv")).toThrow(
      expect.objectContaining({
        code: "unknown_kind_filter",
        path: "s",
        message: expect.stringContaining(`'${word}'`),
      }),
    );
  });

  test.each(["csv", "JSONL", " jsonl"])("is never of a format called %j", (word) => {
    expect(() => exportChoice("s", [], word)).toThrow(expect.objectContaining({ code: "bad_format", path: "s" }));
  });
});
