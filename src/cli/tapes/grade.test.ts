import { describe, expect, test } from "vitest";
import { aTape, aTapeHeader, tapeText } from "../../testing/tape-files.ts";
import { rowsText, tapeFolder } from "../../testing/tape-folder.ts";

const human = { author: { id: "ada", kind: "human" as const, surface: null } };
const agent = { author: { id: "bot", kind: "agent" as const, surface: null } };
const recorded = (script_path: string | null) => tapeText({ ...aTape(), header: aTapeHeader({ script_path }) });

const FILES = {
  "a.tape": recorded("pump.harn"),
  "a.tape.annotations.jsonl": rowsText(
    [
      { id: "r1", kind: "correct", event_id: 0n, ...human },
      { id: "r2", kind: "incorrect", event_id: 0n, ...agent },
      { id: "r3", kind: "correct", event_id: 1n, ...agent },
      { id: "r4", kind: "incorrect", event_id: 2n, ...human },
      { kind: "mute", event_id: 2n },
    ],
    "elsewhere/a.tape",
  ),
  "b.tape": recorded(null),
  "b.tape.annotations.jsonl": rowsText([{ kind: "incorrect", event_id: 0n, ...human }], "named/b.tape"),
  "c.tape.annotations.jsonl": rowsText([{ kind: "correct", event_id: 0n }]),
};

describe("assay tape grade", () => {
  test("prints rates with their intervals, who judged, what is disputed and what is muted", async () => {
    const { tape } = tapeFolder(FILES);
    const { code, out } = await tape("grade DIR/a.tape.annotations.jsonl");
    expect(code).toBe(0);
    expect(out.replace(/ {2,}/g, " | ")).toBe(
      [
        "PERSONA | CORRECT | INCORRECT | RATE | 95 % | DISPUTED | MUTED | JUDGMENTS",
        "pump.harn | 1 | 0 | 100.0 % | 20.7 % to 100.0 % | 1 | 1 | 3",
        " | by people | 1 | 0 | 100.0 % | 20.7 % to 100.0 % | 0 | 1 | 1",
        " | by agents | 1 | 1 | 50.0 % | 9.5 % to 90.5 % | 0 | 0 | 2",
        "",
        "Judged both ways, and counted in no rate:",
        " | DIR/a.tape.annotations.jsonl event 0: correct says r1, incorrect says r2",
        "",
        "1 judged event muted, and left out.",
        "",
      ].join("\n"),
    );
  });

  test("takes the persona from the tape beside the sidecar, else from what the sidecar names", async () => {
    const { tape } = tapeFolder(FILES);
    const { groups, total } = JSON.parse((await tape("grade DIR --json")).out);
    expect(groups.map(({ of, correct, incorrect }: never) => [of, correct, incorrect])).toEqual([
      ["named/b.tape", 0, 1],
      ["pump.harn", 1, 0],
      [null, 1, 0],
    ]);
    expect(total).toMatchObject({ correct: 2, incorrect: 1, disputed: 1, muted: 1 });
    const text = (await tape("grade DIR")).out;
    expect(text).toContain("\n(no persona), author unstated  ");
    expect(text).toContain("\nall  ");
  });

  test("can grade tapes, and see how authors judge", async () => {
    const { tape } = tapeFolder(FILES);
    const keys = async (by: string) =>
      JSON.parse((await tape(`grade DIR --json --by ${by}`)).out).groups.map(({ of }: { of: string }) => of);
    expect(await keys("tape")).toEqual(["DIR/a.tape", "DIR/b.tape", "DIR/c.tape"]);
    expect(await keys("author")).toEqual(["ada", "bot", null]);
    expect(await tape("grade DIR --by mood")).toMatchObject({ code: 2, out: "" });
  });

  test("says so when nothing was judged", async () => {
    const { tape } = tapeFolder({ "a.jsonl": rowsText([{ kind: "note" }]) });
    expect(await tape("grade DIR/a.jsonl")).toEqual({
      code: 0,
      err: [],
      out: "Nothing to grade: there are no rows of kind correct or incorrect in DIR/a.jsonl.\n",
    });
    expect(JSON.parse((await tape("grade DIR/a.jsonl --json")).out).total).toMatchObject({
      rate: null,
      interval: null,
    });
  });

  test("ends at a file that does not load, also at the tape that names the persona, unless those are to be skipped", async () => {
    const { tape } = tapeFolder({ ...FILES, "b.tape": "no header\n" });
    const ended = await tape("grade DIR --json");
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.err[0] ?? "")).toMatchObject({
      error: "tape_header_parse",
      details: { path: "DIR/b.tape", line: 1 },
    });
    const { code, out, err } = await tape("grade DIR --json --skip-broken");
    expect({ code, complaints: err.length }).toEqual({ code: 2, complaints: 1 });
    expect(JSON.parse(out)).toMatchObject({ total: { correct: 2 }, skipped: [{ path: "DIR/b.tape", line: 1 }] });
  });

  test("reads no more of a tape than its header", async () => {
    const { tape } = tapeFolder({ ...FILES, "a.tape": `${recorded("pump.harn")}not a record\n` });
    expect((await tape("grade DIR/a.tape.annotations.jsonl")).code).toBe(0);
  });
});
