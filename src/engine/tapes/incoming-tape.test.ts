import { describe, expect, test, vi } from "vitest";
import { aTape, tapeText } from "../../testing/tape-files.ts";
import { incomingTape } from "./incoming-tape.ts";
import { MAX_LINE_ELEMENTS } from "./tape-lines.ts";

const LIMIT = 40_000;
const plain = { scrubText: (text: string) => text };

test("a tape may be as long as a run can be, and is refused beyond that, with how far it would fit", async () => {
  const quarter = { kind: "file_delete", path: "x".repeat(LIMIT / 4) } as const;
  const taken = await incomingTape(plain, tapeText(aTape(quarter, quarter, quarter)), undefined, LIMIT);
  expect(taken.payloads).toHaveLength(3);
  const refused = incomingTape(plain, tapeText(aTape(quarter, quarter, quarter, quarter)), undefined, LIMIT);
  await expect(refused).rejects.toMatchObject({
    code: "tape_too_long",
    details: { problem: expect.stringContaining("only its first 3 records fit"), limitCharacters: LIMIT },
  });
});

test("a tape of many small records is refused by their number, as all are written in one go", async () => {
  const small = Array.from({ length: 30 }, () => ({ kind: "file_delete", path: "x" }) as const);
  const refused = incomingTape(plain, tapeText(aTape(...small)), undefined, 20_000);
  await expect(refused).rejects.toMatchObject({ code: "tape_too_long" });
});

test("a header that is too long is refused before anything of the tape is parsed", async () => {
  const tape = (argument: string) => tapeText({ ...aTape(), header: { ...aTape().header, argv: [argument] } });
  const parse = vi.spyOn(JSON, "parse");
  const refused = incomingTape(plain, tape("x".repeat(65_536)), undefined);
  await expect(refused).rejects.toMatchObject({
    code: "tape_unreadable",
    details: { code: "tape_header_too_long", line: 1 },
  });
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
  expect((await incomingTape(plain, tape("x".repeat(65_000)), undefined)).payloads).toEqual([]);
});

describe("a line of a tape", () => {
  const [header = "", record = ""] = tapeText(aTape({ kind: "file_delete", path: "a" })).split("\n");
  const tapeWith = (json: string) => `${header}\n\n${record.slice(0, -1)},"unknown":${json}}\n`;
  const list = (items: number, item = "0") => `[${Array(items).fill(item).join(",")}]`;

  test.each([
    ["a list of numbers", list(MAX_LINE_ELEMENTS)],
    ["a list of objects", list(MAX_LINE_ELEMENTS / 2, "{}")],
    ["lists in lists", "[".repeat(MAX_LINE_ELEMENTS) + "]".repeat(MAX_LINE_ELEMENTS)],
  ])("with too many values is refused with its number before it is parsed: %s", async (_, json) => {
    const parse = vi.spyOn(JSON, "parse");
    const refused = incomingTape(plain, tapeWith(json), undefined);
    await expect(refused).rejects.toMatchObject({
      code: "tape_unreadable",
      details: { code: "tape_line_too_dense", line: 3, message: "line 3 has more than 100000 elements" },
    });
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  test("may have many values, and any number of commas and brackets in its texts", async () => {
    const many = list(MAX_LINE_ELEMENTS - 100);
    const text = JSON.stringify("[,{".repeat(MAX_LINE_ELEMENTS));
    for (const json of [many, text]) {
      expect((await incomingTape(plain, tapeWith(json), undefined)).payloads).toHaveLength(1);
    }
  });

  test("that is nested too deep is refused by the reader, however long it is", async () => {
    for (const depth of [200, MAX_LINE_ELEMENTS - 100]) {
      const refused = incomingTape(plain, tapeWith("[".repeat(depth) + "]".repeat(depth)), undefined);
      await expect(refused).rejects.toMatchObject({ details: { code: "tape_record_parse", line: 3 } });
    }
  });
});
