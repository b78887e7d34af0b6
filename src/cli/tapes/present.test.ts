import { describe, expect, test } from "vitest";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { aRecord, aTapeHeader, tapeText } from "../../testing/tape-files.ts";
import { rowsText, tapeFolder } from "../../testing/tape-folder.ts";

const kinds = [
  { kind: "file_delete", path: "tmp/x" },
  { kind: "clock_sleep", duration_ms: 1500n },
  { kind: "llm_call", request_digest: "0123456789abcdef", response: { content_hash: "h", text: "two\nlines" } },
] as const;
const records = kinds.map((kind, i) => aRecord({ seq: BigInt(i), virtual_time_ms: 1767225600000n, kind }));
const TAPE = tapeText({ header: aTapeHeader(), records });

const better: Partial<Row> = {
  id: "alt",
  kind: "alternative",
  event_id: 2n,
  suggested_fix: new Map([["tool", "jq"]]),
  author: { id: "ada", kind: "human", surface: null },
  timestamp: "2026-06-01",
  links: [{ label: "why", url: "https://example.test", reference: null }],
};
const stop: Partial<Row> = {
  kind: "marker",
  event_id: 0n,
  evidence: "Look here:\nit is gone.",
  span: { start_event_id: 0n, end_event_id: 1n },
};
const FILES = { "run.tape": TAPE, "run.tape.annotations.jsonl": rowsText([better, stop, { kind: "note" }]) };

const FIRST = [
  "1/2  marker ann@event_0",
  "  event 0  2026-01-01T00:00:00.000Z  file_delete  tmp/x",
  "  … 1  clock_sleep  1.5 s",
  "",
  "    Look here:",
  "    it is gone.",
  "",
].join("\n");
const SECOND = [
  "2/2  alternative alt  ada, 2026-06-01",
  "  event 2  2026-01-01T00:00:00.000Z  llm_call  0123456789a… → two lines",
  "",
  "  better",
  "    {",
  '      "tool": "jq"',
  "    }",
  "",
  "  see why  https://example.test",
  "",
].join("\n");

describe("assay tape present", () => {
  test("prints all steps in the order of their events where nobody can be asked", async () => {
    const { tape } = tapeFolder(FILES);
    expect(await tape("present DIR/run.tape")).toEqual({ code: 0, err: [], out: `${FIRST}\n${SECOND}` });
  });

  test.each([
    ["forth and to the end", ["", ""], "1 2"],
    ["back and forth", ["", "b", "n", ""], "1 2 1 2"],
    ["not back before the first", ["b", "q"], "1 1"],
    ["no further when asked to quit", ["Q"], "1"],
    ["no further when the question is left", [undefined], "1"],
  ])("walks %s with the keyboard", async (_, answers, steps) => {
    const { tape } = tapeFolder(FILES);
    const left = [...answers];
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return left.shift();
    };
    const { code, out } = await tape("present DIR/run.tape", { ask, outIsTerminal: true });
    expect({ code, left }).toEqual({ code: 0, left: [] });
    expect([...out.matchAll(/^(\d)\/2 /gm)].map(([, step]) => step).join(" ")).toBe(steps);
    expect(questions[0]).toBe("Enter next, q quit: ");
    if (steps.startsWith("1 2")) expect(questions[1]).toBe("Enter ends, b back, q quit: ");
  });

  test("prints rows and events as JSON, with exact numbers", async () => {
    const seq = 2n ** 64n - 1n;
    const { tape } = tapeFolder({
      "run.tape": tapeText({ header: aTapeHeader(), records: [aRecord({ seq })] }),
      "other.jsonl": rowsText([{ ...better, event_id: seq }]),
    });
    const { out } = await tape("present DIR/run.tape --annotations DIR/other.jsonl --json");
    expect(out).toContain('"event_id":18446744073709551615,"kind":"alternative"');
    expect(out).toContain('"events":[{"seq":18446744073709551615,"phase":"user_script",');
    expect(JSON.parse(out)).toMatchObject({ steps: [{ annotation: { id: "alt" }, span: [] }], muted: [], lost: [] });
  });

  test("leaves out muted events, and says so", async () => {
    const rows = rowsText([better, stop, { kind: "mute", event_id: 2n }]);
    const { tape } = tapeFolder({ ...FILES, "run.tape.annotations.jsonl": rows });
    const { code, out, err } = await tape("present DIR/run.tape");
    expect({ code, err }).toEqual({ code: 0, err: ["1 stop left out: the events are muted."] });
    expect(out).toContain("1/1  marker");
    expect(JSON.parse((await tape("present DIR/run.tape --json")).out)).toMatchObject({ muted: [{ id: "alt" }] });
  });

  test("shows the others when the tape has no such event, and ends with 2", async () => {
    const rows = rowsText([better, { ...stop, id: "m", event_id: 7n }]);
    const { tape } = tapeFolder({ ...FILES, "run.tape.annotations.jsonl": rows });
    const { code, out, err } = await tape("present DIR/run.tape");
    expect(code).toBe(2);
    expect(out).toContain("1/1  alternative alt");
    expect(err).toEqual(["The tape has no such event: m on event 7. See `assay tape validate`."]);
    const many = rowsText(Array.from({ length: 12 }, () => ({ ...stop, event_id: 7n })));
    const { err: short } = await tapeFolder({ ...FILES, "run.tape.annotations.jsonl": many }).tape(
      "present DIR/run.tape",
    );
    expect(short[0]).toMatch(/ann@event_7 on event 7, and 2 more\. See /);
  });

  test("says so when there is nothing to stop at", async () => {
    const { tape } = tapeFolder({ ...FILES, "run.tape.annotations.jsonl": rowsText([{ kind: "note" }]) });
    expect((await tape("present DIR/run.tape")).out).toBe(
      "There are no steps: no row is a marker or an alternative.\n",
    );
  });

  test("shows nothing when a file does not load, the tape first", async () => {
    const { tape } = tapeFolder({ "run.tape": `${TAPE}{}\n`, "run.tape.annotations.jsonl": rowsText([stop]) });
    const broken = await tape("present DIR/run.tape");
    expect(broken).toMatchObject({ code: 1, out: "" });
    expect(broken.err[0]).toMatch(/^error: load tape DIR\/run\.tape: parse tape record at line 5 in /);
    expect((await tape("present DIR/none.tape")).err[0]).toMatch(/^error: load tape DIR\/none\.tape: read /);
    expect((await tape("present DIR/run.tape --annotations DIR/none")).err[0]).toMatch(
      /^error: load annotations DIR\/none: read /,
    );
  });
});
