import { describe, expect, test } from "vitest";
import { TAPE_HEADER } from "../testing/annotate-bench.ts";
import { openTape, TapeError } from "./tapes.ts";

const record = (seq: number | bigint) =>
  `{"type":"record","seq":${seq},"phase":"user_script","virtual_time_ms":${seq},"monotonic_ms":${seq},"kind":{"kind":"clock_sleep","duration_ms":${seq}}}`;
const tape = [TAPE_HEADER, ...[0, 1, 2, 5].map(record)].join("\n");
const ada = { id: "ada", kind: "human" } as const;
const at = new Date(Date.UTC(2026, 0, 2));

async function refusal(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error instanceof TapeError ? [error.code, error.message] : error;
  }
  return "not refused";
}

describe("a tape", () => {
  test("shows its events and its digest, with numbers as long as they are exact", async () => {
    const big = 2n ** 63n;
    const { events } = await openTape({ tape: `${TAPE_HEADER}\n${record(7)}\n${record(big - 1n)}\n` });
    expect(events.map(({ seq }) => seq)).toEqual([7, big - 1n]);
    expect(events[0]).toEqual({
      seq: 7,
      phase: "user_script",
      virtualTimeMs: 7,
      monotonicMs: 7,
      kind: "clock_sleep",
      members: { duration_ms: 7 },
    });
  });

  test("that cannot be read is refused with its code and line", async () => {
    await expect(openTape({ tape: `${TAPE_HEADER}\n{}`, name: "a.tape" })).rejects.toMatchObject({
      name: "TapeError",
      code: "tape_record_parse",
      line: 2,
      message: expect.stringContaining("a.tape"),
    });
    await expect(openTape({ tape, sidecar: "" })).rejects.toMatchObject({ code: "empty_file" });
  });
});

describe("the first judgment", () => {
  test("begins the sidecar with the digest of the tape", async () => {
    const opened = await openTape({ tape, name: "run.tape" });
    expect([opened.sidecar, opened.judgments, await opened.validate()]).toEqual([undefined, [], []]);
    const added = opened.annotate({ event: "last", kind: "note", evidence: "odd", author: ada, at });
    expect(opened.sidecar).toBe(
      `{"type":"header","schema_version":1,"tape_path":"run.tape","tape_content_hash":"${opened.digest}","harn_version":null}\n` +
        '{"type":"annotation","id":"ann_5_1","event_id":5,"kind":"note","evidence":"odd","suggested_fix":null,' +
        '"author":{"id":"ada","kind":"human","surface":null},"timestamp":"2026-01-02T00:00:00.000Z","span":null,' +
        '"hypothesis_status":null,"friction_kind":null,"links":[],"metadata":{}}\n',
    );
    expect(opened.judgments).toEqual([added]);
    expect(added).toMatchObject({ id: "ann_5_1", event: 5, through: 5, supersedes: null });
  });
});

describe("a sidecar that is there", () => {
  const before =
    '# mine\r\n{"schema_version":1,"type":"header","x":{}}\r\n\r\n{"type":"annotation","id":"a","event_id":1,"kind":"correct","y":1}';

  test("keeps every byte, and lines end as its own do", async () => {
    const opened = await openTape({ tape, sidecar: new TextEncoder().encode(before) });
    opened.annotate({ event: 2, kind: "marker", author: ada, at });
    opened.annotate({ event: 2, kind: "marker", author: ada, at });
    expect(opened.sidecar?.startsWith(`${before}\r\n{"type":"annotation","id":"ann_2_1"`)).toBe(true);
    expect(opened.sidecar?.endsWith("}\r\n")).toBe(true);
    const again = await openTape({ tape, sidecar: opened.sidecar ?? "" });
    expect(again.judgments).toEqual(opened.judgments);
    expect(again.judgments.map(({ id }) => id)).toEqual(["a", "ann_2_1", "ann_2_2"]);
  });

  test("shows what no later line replaces and what is not muted", async () => {
    const opened = await openTape({ tape, sidecar: before });
    const newest = opened.annotate({ supersedes: "a", kind: "incorrect", author: ada, at });
    opened.annotate({ event: 2, kind: "note", author: ada, at });
    opened.annotate({ event: 2, kind: "mute", author: ada, at });
    expect(newest).toMatchObject({ event: 1, supersedes: "a" });
    expect(opened.currentJudgments).toEqual([newest]);
  });

  test("is validated with the line of each finding", async () => {
    const sidecar = `${before}\n{"type":"annotation","id":"a","event_id":77,"kind":"note"}\n`;
    const findings = await (await openTape({ tape, sidecar })).validate();
    expect(findings.map(({ code, line }) => [code, line])).toEqual([
      ["duplicate_id", 5],
      ["unknown_event_id", 5],
    ]);
  });
});

describe("a judgment that validation would report", () => {
  test.each([
    ["of an event that the tape does not have", { event: 3, kind: "note" }, "unknown_event_id"],
    ["with a hypothesis without its status", { event: 1, kind: "hypothesis" }, "hypothesis_status_missing"],
    ["of a kind that is not known", { event: 1, kind: "applause" }, "unknown_kind"],
    ["with an id that is taken", { event: 1, kind: "note", id: "a" }, "duplicate_id"],
    ["whose stretch ends beyond the tape", { event: 1, kind: "note", through: 9 }, "invalid_span"],
    ["in place of one that is replaced already", { supersedes: "a", kind: "note" }, "already_superseded"],
    ["in place of one that is not there", { supersedes: "b", kind: "note" }, "unknown_annotation"],
    ["with an integer of more than 64 bits", { event: 1, kind: "note", fix: 2n ** 64n }, "unreadable"],
    ["with a value that JSON does not have", { event: 1, kind: "note", fix: Number.NaN }, "unreadable"],
  ])("%s is refused, and nothing is added", async (_, judgment, code) => {
    const opened = await openTape({ tape });
    opened.annotate({ event: 1, kind: "note", id: "a", author: ada });
    opened.annotate({ supersedes: "a", kind: "correct", author: ada });
    const sidecar = opened.sidecar;
    expect(await refusal(() => opened.annotate({ ...judgment, author: ada } as never))).toEqual([
      code,
      expect.any(String),
    ]);
    expect([opened.sidecar, opened.judgments.length]).toEqual([sidecar, 2]);
  });

  test("for a tape of another digest is refused", async () => {
    const sidecar = `{"type":"header","schema_version":1,"tape_content_hash":"${"0".repeat(64)}"}\n`;
    const opened = await openTape({ tape, sidecar });
    const refused = await refusal(() => opened.annotate({ event: 1, kind: "note", author: ada }));
    expect(refused).toEqual(["tape_digest_mismatch", expect.any(String)]);
  });
});

test("values of any form come back as they were given", async () => {
  const opened = await openTape({ tape });
  const fix = { list: [1, 1.5, null, true, "x"], large: 2n ** 64n - 1n, inner: { "2": "b", "1": "a" } };
  const metadata = { n: 3, doc: "https://example.org" };
  const links = [{ label: "ticket", url: "https://example.org/7" }];
  const added = opened.annotate({ event: 1, through: 2, kind: "alternative", fix, metadata, links, author: ada });
  expect(added).toMatchObject({ fix, metadata, through: 2, links: [{ ...links[0], reference: null }] });
  expect(opened.sidecar).toContain('"metadata":{"doc":"https://example.org","n":3}');
});
