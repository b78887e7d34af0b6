import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TapeRecord } from "../../formats/tapes/tape.ts";
import { bench, load, TAPE_DIGEST, TAPE_HEADER } from "../../testing/annotate-bench.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { appendText, NearEvents } from "./annotate.ts";

const OWN = '{"type":"header","schema_version":1}\n';

describe("the first annotation of a tape", () => {
  test("makes the file, with a header that belongs to the tape, and prints the id", async () => {
    const { tape, annotate, load, folder } = bench();
    const told = await annotate("--event 1 --kind note", "--evidence", "odd");
    expect(told).toEqual({ code: 0, out: "ann_1_1\n", err: "" });
    const { header, rows } = await load();
    expect(header).toEqual({ schema_version: 1n, tape_path: tape, tape_content_hash: TAPE_DIGEST, harn_version: null });
    expect(rows).toEqual([
      {
        id: "ann_1_1",
        event_id: 1n,
        kind: "note",
        evidence: "odd",
        suggested_fix: null,
        author: { id: "ada", kind: "human", surface: "cli" },
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        span: null,
        hypothesis_status: null,
        friction_kind: null,
        links: [],
        metadata: new Map(),
      },
    ]);
    expect(readdirSync(folder).sort()).toEqual(["run.tape", "run.tape.annotations.jsonl"]);
  });

  test("can be written elsewhere, in a folder that is made for it", async () => {
    const { folder, annotate } = bench();
    const elsewhere = join(folder, "notes", "mine.jsonl");
    await annotate("--event last --kind correct --annotations", elsewhere);
    expect((await load(elsewhere)).rows.map(({ event_id }) => event_id)).toEqual([5n]);
  });

  test("makes no folder when it is refused", async () => {
    const { folder, annotate } = bench();
    const told = await annotate("--event 3 --kind note --annotations", join(folder, "notes", "mine.jsonl"));
    expect(told.code).toBe(2);
    expect(readdirSync(folder)).toEqual(["run.tape"]);
  });

  test("of a tape that cannot be read makes nothing", async () => {
    const { tape, annotate, folder } = bench();
    writeFileSync(tape, `${TAPE_HEADER}\n{"type":"record"}\n`);
    const told = await annotate("--event 1 --kind note --json");
    expect(told.code).toBe(1);
    expect(JSON.parse(told.err)).toEqual({
      error: "tape_record_parse",
      message: expect.stringMatching(/^load tape .*run\.tape: parse tape record at line 2 in /),
      details: { path: tape, line: 2 },
    });
    expect(readdirSync(folder)).toEqual(["run.tape"]);
  });
});

describe("a row", () => {
  test("holds everything that was said, exactly", async () => {
    const { annotate, load } = bench();
    const told = await annotate(
      "--event 1 --kind friction --friction tool_gap --author bot --author-kind agent --surface ide --span 2 --id mine " +
        "--link https://example.org/a?b=c --link ticket=https://example.org/7 --meta n=18446744073709551615 --meta query=find",
      "--fix",
      '{"b":1.0,"a":9007199254740993}',
      "--meta",
      'filters={"state":"open"}',
    );
    expect(told).toEqual({ code: 0, out: "mine\n", err: "" });
    expect((await load()).rows[0]).toMatchObject({
      author: { id: "bot", kind: "agent", surface: "ide" },
      span: { start_event_id: 1n, end_event_id: 2n },
      friction_kind: "tool_gap",
      suggested_fix: new Map<string, unknown>([
        ["a", 9007199254740993n],
        ["b", 1],
      ]),
      links: [
        { label: null, url: "https://example.org/a?b=c", reference: null },
        { label: "ticket", url: "https://example.org/7", reference: null },
      ],
      metadata: new Map<string, unknown>([
        ["n", 18446744073709551615n],
        ["query", "find"],
        ["filters", new Map([["state", "open"]])],
      ]),
    });
  });

  test("takes texts and values from files", async () => {
    const { annotate, load, folder } = bench();
    writeFileSync(join(folder, "why.md"), "# Why\n\nbecause\n");
    writeFileSync(join(folder, "fix.json"), '["x"]\n');
    await annotate(`--event 1 --kind alternative --evidence @${folder}/why.md --fix @${folder}/fix.json`);
    expect((await load()).rows[0]).toMatchObject({ evidence: "# Why\n\nbecause", suggested_fix: ["x"] });
  });

  test("with what looks like a secret is written as it is, with a warning", async () => {
    const { annotate, text } = bench();
    const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const told = await annotate("--event 1 --kind note", "--evidence", `used ${secret}`);
    expect(told).toMatchObject({ code: 0, out: "ann_1_1\n" });
    expect(told.err).toMatch(/^warning: evidence may contain a secret; /);
    expect(text()).toContain(secret);
  });

  test("as JSON comes with what a program wants to know", async () => {
    const { annotate, beside } = bench();
    const { out } = await annotate("--event 1 --kind note --json");
    expect(JSON.parse(out)).toMatchObject({
      id: "ann_1_1",
      sidecar: beside,
      created: true,
      dryRun: false,
      row: { id: "ann_1_1", event_id: 1, kind: "note" },
      warnings: [],
    });
  });

  test("that is only tried out is printed with the header it would need, and no file is made", async () => {
    const { annotate, folder, beside } = bench();
    const told = await annotate("--event 1 --kind note --dry-run");
    expect(told.out.split("\n").map((line) => line.slice(0, 21))).toEqual([
      '{"type":"header","sch',
      '{"type":"annotation",',
      "",
    ]);
    expect(told.err).toBe(`nothing was written; ${beside} would be created with these lines`);
    expect(readdirSync(folder)).toEqual(["run.tape"]);
  });
});

describe("a file that is there", () => {
  test("keeps every byte: comments, blank lines, unknown members, its own line ends", async () => {
    const before =
      '# mine\r\n{"schema_version":1,"type":"header","x":{}}\r\n\r\n  # more\r\n{"type":"annotation","event_id":0,"kind":"note","y":1}';
    const { annotate, text } = bench(before);
    expect(await annotate("--event 1 --kind note")).toMatchObject({ code: 0, err: "" });
    const after = text();
    expect(after.startsWith(`${before}\r\n{"type":"annotation","id":"ann_1_1",`)).toBe(true);
    expect(after.slice(before.length).match(/\n/g)).toHaveLength(2);
    expect(after.endsWith("}\r\n")).toBe(true);
  });

  test("gives a new row an id that none has", async () => {
    const { annotate } = bench(`${OWN}{"type":"annotation","id":"ann_1_1","event_id":0,"kind":"note"}\n`);
    expect((await annotate("--event 1 --kind note")).out).toBe("ann_1_2\n");
    expect((await annotate("--event 1 --kind note")).out).toBe("ann_1_3\n");
  });

  test("with problems of its own takes a new row, and their number is said", async () => {
    const { annotate, beside } = bench(`${OWN}{"type":"annotation","event_id":77,"kind":"hypothesis"}\n`);
    const told = await annotate("--event 1 --kind note");
    expect(told).toMatchObject({ code: 0, out: "ann_1_1\n" });
    expect(told.err).toBe(`warning: ${beside} had 2 problems before; \`assay tape validate\` lists them`);
  });

  test.each([
    [
      "ends in half a row",
      `${OWN}{"type":"annotation","event_id":0,"ki`,
      /parse annotation at line 2 /,
      "record_parse",
    ],
    ["has no header", '{"type":"annotation","event_id":0,"kind":"note"}\n', /missing its header/, "header_missing"],
    [
      "is of a newer version",
      '{"type":"header","schema_version":2}\n',
      /schema_version 2 /,
      "unsupported_schema_version",
    ],
    ["is empty", "", /empty annotation file/, "empty_file"],
  ])("that %s is refused and left as it is, also with --force", async (_, content, message, code) => {
    const { annotate, text } = bench(content);
    const told = await annotate("--event 1 --kind note --force --json");
    expect(told.code).toBe(1);
    expect(told.err).toMatch(message);
    expect(JSON.parse(told.err)).toMatchObject({ error: code });
    expect(text()).toBe(content);
  });
});

describe("a row that the validator would report", () => {
  const others = `${OWN}{"type":"annotation","id":"taken","event_id":0,"kind":"note"}\n`;
  test.each([
    [
      "--event 3 --kind note",
      "unknown_event_id",
      /has no event 3; near it are 1 \(clock_sleep\), 2 \(clock_sleep\), 5 \(clock_sleep\)/,
    ],
    ["--event 1 --kind hypotesis", "unknown_kind", /hypotesis is no kind of annotation; perhaps you mean hypothesis/],
    ["--event 1 --kind applause", "unknown_kind", /applause is no kind of annotation; use one of correct, incorrect, /],
    ["--event 1 --kind hypothesis", "hypothesis_status_missing", /needs a status: --status active, /],
    ["--event 1 --kind note --status active", "hypothesis_status_unexpected", /leave out --status/],
    ["--event 1 --kind friction", "friction_kind_missing", /--friction repeated_query, /],
    ["--event 1 --kind friction --friction toolgap", "friction_kind_unknown", /perhaps you mean tool_gap/],
    ["--event 1 --kind note --friction tool_gap", "friction_kind_unexpected", /leave out --friction/],
    ["--event 1 --kind marker --span 0", "invalid_span", /span.end_event_id \(0\) is before start_event_id \(1\)/],
    ["--event 1 --kind marker --span 0:2", "invalid_span", /span.start_event_id \(0\) must equal event_id \(1\)/],
    ["--event 1 --kind marker --span 6", "invalid_span", /past the last tape event \(seq=5\)/],
    ["--event 1 --kind note --id taken", "duplicate_id", /has an annotation taken already/],
  ])("is refused: %s (%s)", async (line, code, message) => {
    const { annotate, text } = bench(others);
    const told = await annotate(`${line} --json`);
    expect(told.code).toBe(2);
    expect(told.out).toBe("");
    expect(JSON.parse(told.err)).toMatchObject({
      error: "row_refused",
      message: expect.stringMatching(message),
      details: { problems: [code] },
    });
    expect(text()).toBe(others);
    const forced = await annotate(`${line} --force`);
    expect(forced.code).toBe(0);
    expect(forced.err).toMatch(message);
    expect(text().split("\n")).toHaveLength(4);
  });

  test("is refused in a file that was written for another tape", async () => {
    const { annotate, text, beside } = bench('{"type":"header","schema_version":1,"tape_content_hash":"00"}\n');
    const before = text();
    const told = await annotate("--event 1 --kind note");
    expect(told.code).toBe(2);
    expect(told.err).toMatch(`${beside} belongs to another tape: it names the digest 00, `);
    expect(text()).toBe(before);
    const forced = await annotate("--event 1 --kind note --force");
    expect(forced).toMatchObject({ code: 0, out: "ann_1_1\n" });
    expect(forced.err.match(/^warning: /gm)).toHaveLength(1);
  });

  test("repeats nothing of the file that a terminal would act upon", async () => {
    const hostile = '"\\u001b]0;x\\u0007\u009b31m\\n::error::x"';
    const { annotate } = bench(`{"type":"header","schema_version":1,"tape_content_hash":${hostile}}\n`);
    for (const more of ["", " --force"]) {
      const { err } = await annotate(`--event 1 --kind note${more}`);
      expect(err.trimEnd()).toMatch(/^[\u0020-\u007e\ufffd]*it names the digest [\u0020-\u007e\ufffd]*$/);
    }
  });

  test("is named with all that is wrong with it", async () => {
    const { annotate, beside } = bench();
    const told = await annotate("--event 3 --kind hypothesis --json");
    expect(JSON.parse(told.err).details.problems).toEqual(["unknown_event_id", "hypothesis_status_missing"]);
    expect(existsSync(beside)).toBe(false);
  });

  test("keeps a word from the future with --force", async () => {
    const { annotate, text } = bench();
    await annotate("--event 1 --kind applause --force");
    expect(text()).toContain('"kind":"applause"');
  });
});

describe("what is not understood", () => {
  test.each([
    ["--kind note", /name the event: --event SEQ, or --event last/],
    ["--event 1", /name the kind: --kind note/],
    ["--event one --kind note", /--event one must be the number of an event/],
    ["--event 18446744073709551616 --kind note", /must be the number of an event/],
    ["--event 1 --kind note --span 1:2:3", /must look like END or START:END/],
    ["--event 1 --kind note --span x", /--span x must be the number of an event/],
    ["--event 1 --kind note --fix {", /--fix is not JSON: /],
    ["--event 1 --kind note --fix words", /a text needs quotes of its own/],
    ["--event 1 --kind note --fix @/nowhere/x", /--fix cannot be read: /],
    ["--event 1 --kind note --meta x", /--meta x must look like KEY=VALUE/],
    ["--event 1 --kind note --meta x=1 --meta x=2", /--meta x=… is given twice/],
    ["--event 1 --kind note --meta x={1}", /--meta x is not JSON/],
    ["--event 1 --kind note --meta supersedes=a", /--supersedes ID/],
    ["--event 1 --kind note --link nowhere", /must be an address with its scheme/],
    ["--event 1 --kind hypothesis --status maybe", /Use one of active, verifying/],
    ["--event 1 --kind note --author-kind robot", /Use one of human, agent, system/],
    ["--supersedes nothing", /there is no annotation nothing in /],
  ])("is said, and nothing is written: %s", async (line, message) => {
    const { annotate, folder } = bench();
    const told = await annotate(`${line} --force`);
    expect(told.code).toBe(2);
    expect(told.err).toMatch(message);
    expect(readdirSync(folder)).toEqual(["run.tape"]);
  });

  test("a value that is nested too deep for a line is refused, also with --force", async () => {
    const { annotate, folder } = bench();
    const deep = `${"[".repeat(127)}${"]".repeat(127)}`;
    const told = await annotate(`--event 1 --kind note --force --fix ${deep}`);
    expect(told).toMatchObject({
      code: 2,
      err: expect.stringMatching(/the annotation could not be read back: it is nested more than 127 deep/),
    });
    expect(readdirSync(folder)).toEqual(["run.tape"]);
  });
});

describe("a row that replaces an earlier one", () => {
  const stated = "--event 1 --kind hypothesis --status active --span 2 --id h1 --evidence cold";

  test("is about the same event and stretch, and says the rest again unless it is said anew", async () => {
    const { annotate, load } = bench();
    await annotate(stated, "--meta", "team=ops");
    expect(await annotate("--supersedes h1 --status verifying")).toMatchObject({ code: 0, err: "" });
    expect(await annotate("--supersedes ann_1_1 --status confirmed --evidence warm")).toMatchObject({
      code: 0,
      err: "",
    });
    const [, second, third] = (await load()).rows;
    expect(second).toMatchObject({
      id: "ann_1_1",
      event_id: 1n,
      kind: "hypothesis",
      evidence: "cold",
      span: { start_event_id: 1n, end_event_id: 2n },
      hypothesis_status: "verifying",
      metadata: new Map([
        ["supersedes", "h1"],
        ["team", "ops"],
      ]),
    });
    expect(third).toMatchObject({ id: "ann_1_2", hypothesis_status: "confirmed", evidence: "warm" });
    expect(third?.metadata.get("supersedes")).toBe("ann_1_1");
  });

  test("may be of any kind", async () => {
    const { annotate, load } = bench();
    await annotate("--event 2 --kind incorrect --id j1");
    await annotate("--supersedes j1 --kind correct");
    expect((await load()).rows[1]).toMatchObject({ event_id: 2n, kind: "correct", id: "ann_2_1" });
  });

  test("comes after the newest one, which is named otherwise", async () => {
    const { annotate, text } = bench();
    await annotate(stated);
    await annotate("--supersedes h1 --status verifying --id h2");
    await annotate("--supersedes h2 --status stale --id h3");
    const before = text();
    const told = await annotate("--supersedes h1 --status verifying --json");
    expect(told.code).toBe(2);
    expect(JSON.parse(told.err)).toMatchObject({
      message: expect.stringContaining("h1 has been replaced already; the newest is h3"),
      details: { problems: ["already_superseded"] },
    });
    expect(text()).toBe(before);
    expect(await annotate("--supersedes h1 --status verifying --force --id h4")).toMatchObject({ code: 0 });
    expect((await annotate("--supersedes h1 --status stale")).err).toContain("the newest is h3, h4");
    expect((await annotate("--supersedes h2 --status stale")).err).toContain("the newest is h3.");
  });

  test.each([
    ["confirmed", "active"],
    ["disproven", "confirmed"],
    ["stale", "verifying"],
    ["verifying", "active"],
  ])("does not take a hypothesis from %s to %s unless somebody insists", async (from, to) => {
    const { annotate } = bench();
    await annotate(`--event 1 --kind hypothesis --status ${from} --id h1`);
    const told = await annotate(`--supersedes h1 --status ${to}`);
    expect(told).toMatchObject({
      code: 2,
      err: expect.stringContaining(`h1 is ${from}, `),
    });
    const forced = await annotate(`--supersedes h1 --status ${to} --force`);
    expect(forced).toMatchObject({ code: 0, err: expect.stringContaining("warning: h1 is ") });
  });

  test("stays on its event", async () => {
    const { annotate, text } = bench();
    await annotate(stated);
    const before = text();
    const told = await annotate("--supersedes h1 --event 2 --status verifying --force");
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining("h1 is about event 1") });
    expect(text()).toBe(before);
    expect((await annotate("--supersedes h1 --event 1 --status verifying")).code).toBe(0);
  });
});

function nearTo(wanted: bigint, seqs: readonly bigint[]): string | undefined {
  const near = new NearEvents(wanted);
  for (const seq of seqs) near.take({ seq, kind: { kind: "file_delete", path: "p" } } as TapeRecord);
  return near.text();
}

test("the events next to one that is missing are found, in whatever order the tape has them", () => {
  expect(nearTo(5n, [9n, 1n, 3n, 8n, 2n, 7n, 3n, 20n])).toBe(
    "2 (file_delete), 3 (file_delete), 7 (file_delete), 8 (file_delete)",
  );
  expect(nearTo(50n, [0n, 1n, 2n, 3n])).toBe("2 (file_delete), 3 (file_delete)");
  expect(nearTo(5n, [])).toBe(undefined);
});

test("a text is added to the end, and what was there stays", async () => {
  const path = join(tempDir(), "f");
  writeFileSync(path, "a\n");
  await appendText(path, "é\n", 2);
  expect(readFileSync(path, "utf8")).toBe("a\né\n");
});

test("a file that somebody else has changed meanwhile is left alone", async () => {
  const path = join(tempDir(), "f");
  writeFileSync(path, "a\nb\n");
  await expect(appendText(path, "c\n", 2)).rejects.toMatchObject({ code: "write_failed" });
  expect(readFileSync(path, "utf8")).toBe("a\nb\n");
});

test("a file that is gone is not made again", async () => {
  const path = join(tempDir(), "f");
  await expect(appendText(path, "c\n", 2)).rejects.toMatchObject({ code: "write_failed" });
  expect(existsSync(path)).toBe(false);
});

test.skipIf(process.platform !== "linux")("what cannot be written is an error with the name of the file", async () => {
  await expect(appendText("/dev/full", "c\n", 0)).rejects.toMatchObject({
    code: "write_failed",
    message: expect.stringContaining("write /dev/full: "),
  });
});
