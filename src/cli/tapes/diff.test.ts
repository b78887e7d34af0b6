import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../formats/tapes/digest.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import type { RecordKind } from "../../formats/tapes/tape.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { aRow, aSidecarHeader, aTape, sidecarText, tapeText } from "../../testing/tape-files.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

const sleep = (duration_ms: bigint): RecordKind => ({ kind: "clock_sleep", duration_ms });
const RECORDED = aTape(sleep(1n), sleep(2n), { kind: "file_delete", path: "a" });

function bench(replay = RECORDED, rows: readonly Row[] = [], tape_content_hash: string | null = null) {
  const folder = tempDir();
  const path = (name: string) => join(folder, name);
  writeFileSync(path("a"), tapeText(RECORDED));
  writeFileSync(path("b"), tapeText(replay));
  writeFileSync(path("s"), sidecarText({ header: aSidecarHeader({ tape_content_hash }), rows }));
  return {
    path,
    diff: async (...argv: string[]) => {
      const io = recordedIo();
      const named = argv.map((word) => (/^[abs]$/.test(word) ? path(word) : word));
      const code = await main(["tape", "diff", ...named], { io, env: {} });
      const short = (text: string) => text.replaceAll(`${folder}/`, "");
      return { code, out: short(io.outText()), err: short(io.errLines.join("\n")) };
    },
  };
}

const CHANGED = aTape(sleep(9n), sleep(8n), { kind: "file_delete", path: "b" });

describe("two tapes that agree", () => {
  test("are said to, with exit code 0", async () => {
    const out = "a and b agree: 3 recorded events and 3 replayed events (byte_identical), score 1.0\n";
    expect(await bench().diff("a", "b")).toEqual({ code: 0, out, err: "" });
  });

  test("may agree in one respect only", async () => {
    const { diff } = bench(CHANGED);
    expect(await diff("a", "b", "--mode", "semantic")).toMatchObject({ code: 2 });
    const { code, out } = await bench(aTape({ kind: "file_delete", path: "a" })).diff("a", "b", "--mode", "outcome");
    expect([code, out]).toEqual([0, "a and b agree: 3 recorded events and 1 replayed event (outcome), score 1.0\n"]);
  });
});

describe("two tapes that diverge", () => {
  test("are shown event by event, with exit code 2", async () => {
    const { code, out, err } = await bench(CHANGED).diff("a", "b");
    expect([code, err]).toEqual([2, ""]);
    expect(out.split("\n")).toEqual([
      "SEQ  CATEGORY              RECORDED  REPLAY",
      "0    clock_sleep_duration  1         9",
      "1    clock_sleep_duration  2         8",
      '2    file_delete_path      "a"       "b"',
      "3 divergences in 3 recorded events and 3 replayed events (byte_identical), score 0.0",
      "",
    ]);
  });

  test("are shown where they differ, also when that is far into a long text, and without control characters", async () => {
    const path = `${"x".repeat(200)}\u202e`;
    const replay = aTape(sleep(1n), sleep(2n), { kind: "file_delete", path: `${path}1` });
    const { path: file, diff } = bench(replay);
    const recorded = aTape(sleep(1n), sleep(2n), { kind: "file_delete", path: `${path}2` });
    writeFileSync(file("a"), tapeText(recorded));
    expect((await diff("a", "b")).out).toMatch(/file_delete_path +…x{11}\ufffd2" +…x{11}\ufffd1"\n/);
  });

  test("are listed up to a number, and the rest is counted", async () => {
    const many = (from: bigint) => aTape(...Array.from({ length: 300 }, (_, i) => sleep(from + BigInt(i))));
    const { path, diff } = bench(many(1n));
    writeFileSync(path("a"), tapeText(many(0n)));
    const { out } = await diff("a", "b");
    expect(out).toContain("… and 100 more divergences; --json lists all of them");
    expect(JSON.parse((await diff("a", "b", "--json")).out).divergences).toHaveLength(300);
  });

  test("give a report with --json", async () => {
    const { code, out } = await bench(aTape(sleep(1n), sleep(2n))).diff("a", "b", "--mode", "phase_aware", "--json");
    expect(code).toBe(2);
    expect(out).toBe(`{
  "mode": "phase_aware",
  "recorded_records": 3,
  "replay_records": 2,
  "divergences": [
    {
      "seq": 2,
      "category": "missing_in_replay",
      "message": "the replay has no record here, the recording has file_delete"
    }
  ],
  "score": 0.6666666666666667
}
`);
  });
});

describe("the score", () => {
  test.each([
    [9, 10, "0.1"],
    [1, 20_001, "0.9999"],
  ])("with %i of %i events different is %s", async (different, all, score) => {
    const { path, diff } = bench();
    const sleeps = (changed: number) => aTape(...Array.from({ length: all }, (_, i) => sleep(i < changed ? 2n : 1n)));
    writeFileSync(path("a"), tapeText(sleeps(0)));
    writeFileSync(path("b"), tapeText(sleeps(different)));
    expect((await diff("a", "b")).out).toMatch(new RegExp(`, score ${score}\n$`));
  });
});

describe("the annotations of the recording", () => {
  const rows = [
    aRow({ id: "n", event_id: 2n, evidence: "flaky\non Mondays" }),
    aRow({ id: "m", event_id: 0n, kind: "mute", span: { start_event_id: 0n, end_event_id: 1n } }),
    aRow({ id: "far", event_id: 7n }),
  ];

  test("stand beside what diverges, and muted events are counted without being listed", async () => {
    const { code, out } = await bench(CHANGED, rows).diff("a", "b", "--annotations", "s");
    expect(code).toBe(2);
    expect(out.split("\n")).toEqual([
      "SEQ  CATEGORY          RECORDED  REPLAY",
      '2    file_delete_path  "a"       "b"',
      "     [note] n: flaky",
      "2 divergences on muted events counted but not listed (s mutes events 0, 1)",
      "3 divergences in 3 recorded events and 3 replayed events (byte_identical), score 0.0",
      "",
    ]);
  });

  test("stand once below all that diverges on their event", async () => {
    const kind: RecordKind = { kind: "file_write", path: "a", content_hash: "h", len_bytes: 1n };
    const other: RecordKind = { kind: "file_write", path: "b", content_hash: "i", len_bytes: 2n };
    const same = Array.from({ length: 9 }, () => sleep(1n));
    const { path, diff } = bench(aTape(other, ...same), [aRow({ id: "n", event_id: 0n, evidence: "why" })]);
    writeFileSync(path("a"), tapeText(aTape(kind, ...same)));
    expect((await diff("a", "b", "--annotations", "s")).out.split("\n")).toEqual([
      "SEQ  CATEGORY         RECORDED  REPLAY",
      '0    file_write_path  "a"       "b"',
      '0    file_write_hash  "h"       "i"',
      "0    file_write_len   1         2",
      "     [note] n: why",
      "3 divergences in 10 recorded events and 10 replayed events (byte_identical), score 0.7",
      "",
    ]);
  });

  test("never make a difference pass, even when all of it is muted", async () => {
    const mute = [aRow({ event_id: 0n, kind: "mute", span: { start_event_id: 0n, end_event_id: 9n } })];
    const { code, out } = await bench(CHANGED, mute).diff("a", "b", "--annotations", "s");
    expect([code, out]).toEqual([2, expect.stringMatching(/^3 divergences on muted events .*\n3 divergences in /)]);
  });

  test("mute nothing once they are replaced, nor what only the replay has", async () => {
    const replaced = aRow({ id: "x", event_id: 1n, metadata: new Map([["supersedes", "m"]]) });
    const mute = aRow({ id: "m", event_id: 1n, kind: "mute" });
    const { out } = await bench(CHANGED, [mute, replaced]).diff("a", "b", "--annotations", "s");
    expect(out).not.toContain("muted");
    const longer = aTape(...RECORDED.records.map(({ kind }) => kind), sleep(1n));
    const onlyReplay = await bench(longer, [aRow({ event_id: 3n, kind: "mute" })]).diff("a", "b", "--annotations", "s");
    expect(onlyReplay.out).toContain("3    missing_in_recorded");
  });

  test("follow the report with --json, which is otherwise the same", async () => {
    const { diff } = bench(CHANGED, rows);
    const plain = JSON.parse((await diff("a", "b", "--json")).out);
    const { muted, annotations, ...rest } = JSON.parse((await diff("a", "b", "--annotations", "s", "--json")).out);
    expect(rest).toEqual(plain);
    expect(muted).toEqual([0, 1]);
    expect(annotations.map(({ id }: { id: string }) => id)).toEqual(["n", "m"]);
  });

  test("of another tape are shown with a warning", async () => {
    const digest = await digestOf(RECORDED.records);
    expect((await bench(CHANGED, rows, digest).diff("a", "b", "--annotations", "s")).err).toBe("");
    const { err, code } = await bench(RECORDED, rows, "other").diff("a", "b", "--annotations", "s");
    expect([code, err]).toEqual([0, "warning: s belongs to another tape than a: its digest differs"]);
  });
});

describe("what cannot be compared", () => {
  test("is a file that does not load, with exit code 1", async () => {
    const { path, diff } = bench();
    writeFileSync(path("b"), "{}\n");
    const message = "load tape b: parse tape header in b: `type` is missing";
    expect(await diff("a", "b")).toEqual({ code: 1, out: "", err: `error: ${message}` });
    const { code, out, err } = await diff("a", "b", "--json");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(JSON.parse(err)).toEqual({ error: "tape_header_parse", message, details: { path: "b", line: 1 } });
    writeFileSync(path("s"), "");
    expect(await diff("a", "a", "--annotations", "s")).toMatchObject({ code: 1, out: "" });
    expect(await diff("a", path("none"))).toMatchObject({ code: 1, out: "" });
  });

  test("is a mode that does not exist", async () => {
    expect(await bench().diff("a", "b", "--mode", "loose")).toMatchObject({ code: 2, out: "" });
  });
});
