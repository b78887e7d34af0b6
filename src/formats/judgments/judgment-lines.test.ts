import { describe, expect, test } from "vitest";
import type { AppError } from "../../protocol/errors.ts";
import { Judgment } from "../../protocol/judgments/judgment-file.ts";
import { parse } from "../../protocol/schema.ts";
import { endLine, headerLine, type JudgmentEntry, judgmentLine, readJudgments } from "./judgment-lines.ts";

const AT = "2027-03-01T12:00:00.000Z";

function judgment(more: object = {}): Judgment {
  return parse(
    Judgment,
    {
      annotationId: "ann-01k2v6w0d9q3c5x7m8n4p2r1st",
      target: { runId: "run-1" },
      signal: { kind: "rating", rating: 4 },
      actor: { principalRef: "ada" },
      createdAt: AT,
      workflowId: "greet",
      actorKind: "person",
      state: "live",
      ...more,
    },
    "judgment",
  );
}

const FULL = judgment({
  target: { runId: "run-1", eventId: "evt-1" },
  signal: { kind: "flag" },
  note: "line one\nline two \u2028 and \u{1f600}",
  agentId: "writer",
  actorKind: "agent",
  confidence: 0.1,
  state: "retracted",
  supersedes: "ann-0",
  retraction: { by: "ada", at: AT, reason: "mistaken" },
  flag: { status: "closed", closedBy: "ben", closedAt: AT, note: "looked into" },
  queueItemId: "itm-1",
  importedBy: "eve",
  workspace: "east",
  aboutNode: "draft",
});

async function read(...lines: readonly string[]): Promise<JudgmentEntry[]> {
  const entries: JudgmentEntry[] = [];
  async function* each() {
    yield* lines;
  }
  for await (const entry of readJudgments(each())) entries.push(entry);
  return entries;
}

const refusalOf = (...lines: readonly string[]): Promise<AppError> =>
  read(...lines).then(
    () => Promise.reject(new Error("nothing was refused")),
    (error: AppError) => error,
  );

describe("an export of judgments", () => {
  test("is read as it was written, history and all", async () => {
    const lines = [headerLine({ signal: "flag" }), judgmentLine(judgment()), judgmentLine(FULL), endLine(2)];
    expect(await read(...lines)).toEqual([
      { line: 2, judgment: judgment() },
      { line: 3, judgment: FULL },
    ]);
    for (const line of lines) expect(line).not.toContain("\n");
  });

  test("may be empty, as long as it says so", async () => {
    expect(await read(headerLine({}), endLine(0))).toEqual([]);
    expect(headerLine({})).toBe('{"type":"header","format":"assay-judgments","version":1}');
  });

  test("may have empty lines, which count as lines only", async () => {
    expect(await read("", headerLine({}), "  ", judgmentLine(FULL), endLine(1), "\r")).toEqual([
      { line: 4, judgment: FULL },
    ]);
  });

  test("is refused unless it begins with a header that is known", async () => {
    const headers = [
      judgmentLine(judgment()),
      "not JSON",
      "null",
      '{"type":"header","format":"assay-audit","version":1}',
      '{"type":"header","format":"assay-judgments","version":2}',
      '{"type":"header","format":"assay-judgments","version":"1"}',
      '{"type":"header","format":"assay-judgments"}',
      '{"type":"header","format":"assay-judgments","version":1,"more":true}',
    ];
    for (const header of headers) {
      expect(await refusalOf(header, endLine(0)), header).toMatchObject({ code: "judgment_format_unsupported" });
    }
    expect(await refusalOf()).toMatchObject({ code: "judgment_format_unsupported" });
    expect((await refusalOf(headers[4] ?? "")).message).toContain("version 2");
  });

  test("is refused when something of it is missing", async () => {
    const [header, line] = [headerLine({}), judgmentLine(judgment())];
    const cut = [
      [header],
      [header, line],
      [header, line, line.slice(0, 40)],
      [header, endLine(1)],
      [header, line, line, endLine(1)],
      [header, line, endLine(1), line],
      [header, endLine(0), endLine(0)],
      [header, line, '{"type":"end"}'],
    ];
    for (const lines of cut) {
      expect(await refusalOf(...lines), lines.join("\n")).toMatchObject({ code: "judgment_file_incomplete" });
    }
  });
});

describe("a line that is no judgment", () => {
  const wrong: readonly (readonly [string, object | string, string])[] = [
    ["is not JSON", "{", "not JSON"],
    ["is of no known type", { type: "rating" }, 'type "annotation"'],
    ["is a second header", { type: "header", format: "assay-judgments", version: 1 }, 'type "annotation"'],
    ["is no object", "7", 'type "annotation"'],
    ["has a member nobody knows", { mood: "good" }, '"mood"'],
    ["has an id of another kind", { annotationId: "run-01k2v6w0d9q3c5x7m8n4p2r1st" }, "/annotationId"],
    ["has a workflow that could not exist", { workflowId: "a b" }, "/workflowId"],
    ["has a rating out of range", { signal: { kind: "rating", rating: 6 } }, "/signal/rating"],
    ["lacks what its kind is about", { signal: { kind: "label" } }, '/signal must have "label"'],
    ["has a time that is none", { createdAt: "2027-02-30T00:00:00Z" }, "createdAt"],
    ["was replaced by nothing", { state: "superseded" }, "supersededBy"],
    ["was replaced and is live", { supersededBy: "ann-2", supersededAt: AT }, "superseded"],
    ["was replaced at no time", { supersededBy: "ann-2" }, "together"],
    ["was withdrawn by nobody", { state: "retracted" }, "retraction"],
    ["was withdrawn and is live", { retraction: { by: "a", at: AT, reason: "" } }, "retraction"],
    [
      "was withdrawn at no time",
      { state: "retracted", retraction: { by: "a", at: "x".repeat(20), reason: "" } },
      "retractedAt",
    ],
    ["is a flag that is neither open nor closed", { signal: { kind: "flag" } }, "flag"],
    ["is no flag and open", { flag: { status: "open" } }, "flag"],
    ["is closed by nobody", { signal: { kind: "flag" }, flag: { status: "closed" } }, "closedBy"],
    ["is open and closed", { signal: { kind: "flag" }, flag: { status: "open", closedBy: "a" } }, "closedBy"],
    ["is of a person with a confidence", { confidence: 1 }, "confidence"],
    [
      "has too long a reason",
      { state: "retracted", retraction: { by: "a", at: AT, reason: "x".repeat(20_001) } },
      "/retraction",
    ],
  ];
  test.each(wrong)("because it %s is told with its number, and the others are read", async (_, line, problem) => {
    const text = typeof line === "string" ? line : JSON.stringify({ type: "annotation", ...judgment(), ...line });
    const good = judgmentLine(FULL);
    expect(await read(headerLine({}), good, text, good, endLine(3))).toEqual([
      { line: 2, judgment: FULL },
      { line: 3, problem: expect.stringContaining(problem) },
      { line: 4, judgment: FULL },
    ]);
  });
});

test("a line with a member twice is no judgment, and a header with one is no header", async () => {
  const read = async (lines: readonly string[]) => {
    const entries: JudgmentEntry[] = [];
    for await (const entry of readJudgments(
      (async function* () {
        yield* lines;
      })(),
    ))
      entries.push(entry);
    return entries;
  };
  const twice = judgmentLine(judgment()).replace("{", '{"\\u0073tate":"retracted",');
  expect(await read([headerLine({}), twice, endLine(1)])).toEqual([
    { line: 2, problem: 'it has the member "state" twice' },
  ]);
  await expect(read([headerLine({}).replace("{", '{"version":2,'), endLine(0)])).rejects.toMatchObject({
    code: "judgment_format_unsupported",
  });
});
