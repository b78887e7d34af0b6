import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith, tape } from "../../testing/tape-command.ts";
import { aRecord, aRow, aSidecarHeader, aTapeHeader, sidecarText, tapeText } from "../../testing/tape-files.ts";

const TAPE = tapeText({ header: aTapeHeader(), records: [aRecord()] });
const SIDECAR = sidecarText({ header: aSidecarHeader(), rows: [aRow({ evidence: "é" })] });
const bytes = (text: string) => new TextEncoder().encode(text);
const cut = (text: string) => bytes(text).slice(0, -10);
const notUtf8 = (text: string) => Uint8Array.from([...bytes(text), 0xff, 0x0a]);

/** Commands that read a tape called `t`, a sidecar called `s`, and where what they write would go. */
const COMMANDS: Readonly<Record<"tape" | "sidecar", readonly (readonly string[])[]>> = {
  tape: [
    ["digest", "t"],
    ["normalize", "t"],
    ["normalize", "t", "--output", "out"],
    ["show", "t", "--annotations", "s"],
  ],
  sidecar: [
    ["export", "s"],
    ["export", "s", "--latest"],
    ["export", "s", "--format", "friction", "--redact"],
    ["export", "s", "--output", "out"],
    ["normalize", "s.jsonl"],
    ["normalize", "s.jsonl", "--output", "out"],
    ["show", "t", "--annotations", "s"],
    ["anchors", "s"],
  ],
};

const BAD_TAPES: readonly (readonly [string, string | Uint8Array | undefined, string, RegExp])[] = [
  ["is not there", undefined, "tape_read_failed", /: read .*: ENOENT/],
  ["is empty", "", "tape_empty", /: empty tape file: /],
  ["is not UTF-8", notUtf8(TAPE), "tape_read_failed", /: stream did not contain valid UTF-8$/],
  ["begins with a byte-order mark", `\ufeff${TAPE}`, "tape_header_parse", /: parse tape header in /],
  ["is cut", cut(TAPE), "tape_record_parse", /: parse tape record at line 2 in /],
  ["begins with a blank line", `\n${TAPE}`, "tape_header_parse", /: parse tape header in /],
  [
    "is of a newer version",
    TAPE.replace('"version":1', '"version":2'),
    "unsupported_tape_version",
    /declares version 2 /,
  ],
];

const BAD_SIDECARS: readonly (readonly [string, string | Uint8Array | undefined, string, RegExp])[] = [
  ["is not there", undefined, "read_failed", /: read .*: ENOENT/],
  ["is empty", "", "empty_file", /: empty annotation file: /],
  ["is not UTF-8", notUtf8(SIDECAR), "read_failed", /: stream did not contain valid UTF-8$/],
  ["is not UTF-8 after a line that is wrong", notUtf8(`${SIDECAR}{\n`), "read_failed", /valid UTF-8$/],
  ["begins with a byte-order mark", `\ufeff${SIDECAR}`, "header_parse", /: parse annotation header at line 1 in /],
  ["is cut", cut(SIDECAR), "record_parse", /: parse annotation at line 2 in /],
  [
    "is cut in the middle of a character",
    bytes(SIDECAR).slice(0, bytes(SIDECAR).indexOf(0xc3) + 1),
    "read_failed",
    /UTF-8$/,
  ],
  [
    "is of a newer version",
    SIDECAR.replace('"schema_version":1', '"schema_version":2'),
    "unsupported_schema_version",
    /2 but/,
  ],
];

function folderOf(format: "tape" | "sidecar", content: string | Uint8Array | undefined): string {
  const good = format === "tape" ? { s: SIDECAR } : { t: TAPE };
  if (content === undefined) return folderWith(good);
  return folderWith({ ...good, ...(format === "tape" ? { t: content } : { s: content, "s.jsonl": content }) });
}

async function fails(folder: string, argv: readonly string[], code: string, message: RegExp): Promise<void> {
  const before = readdirSync(folder);
  const full = argv.map((word) => (/^(t|s|s\.jsonl|out)$/.test(word) ? join(folder, word) : word));
  const { exit, out, err } = await tape([...full, "--json"]);
  expect({ exit, out, lines: err.length }).toEqual({ exit: 1, out: "", lines: 1 });
  const problem = JSON.parse(err[0] ?? "");
  expect(problem).toEqual({ error: code, message: expect.stringMatching(message), details: expect.any(Object) });
  expect(problem.message).toMatch(/^load (tape|annotations) /);
  expect(problem.details.path).toContain(folder);
  const plain = await tape(full);
  expect(plain).toEqual({ exit: 1, out: "", err: [`error: ${problem.message}`] });
  expect(readdirSync(folder)).toEqual(before);
}

describe.each(COMMANDS.tape.map((argv) => ({ title: argv.join(" "), argv })))("assay tape $title", ({ argv }) => {
  test.each(BAD_TAPES)("says so when the tape %s, and changes nothing", async (_, content, code, message) => {
    await fails(folderOf("tape", content), argv, code, message);
  });

  test("says so when the tape is a directory", async () => {
    const folder = folderWith({ s: SIDECAR });
    mkdirSync(join(folder, "t"));
    await fails(folder, argv, "tape_read_failed", /EISDIR/);
  });
});

describe.each(COMMANDS.sidecar.map((argv) => ({ title: argv.join(" "), argv })))("assay tape $title", ({ argv }) => {
  test.each(BAD_SIDECARS)("says so when the sidecar %s, and changes nothing", async (_, content, code, message) => {
    await fails(folderOf("sidecar", content), argv, code, message);
  });
});

describe("assay tape normalize", () => {
  test("may write over the file it reads", async () => {
    const folder = folderWith({ "s.jsonl": `# mine\n${SIDECAR}\n` });
    const path = join(folder, "s.jsonl");
    expect(await tape(["normalize", path, "--output", path])).toEqual({ exit: 0, out: "", err: [] });
    expect((await tape(["normalize", path])).out).toBe(SIDECAR);
  });

  test("says what it wrote when asked for JSON", async () => {
    const folder = folderWith({ t: TAPE });
    const output = join(folder, "out");
    const { out } = await tape(["normalize", join(folder, "t"), "--output", output, "--json"]);
    expect(JSON.parse(out)).toEqual({ file: output, format: "tape", lines: 2 });
  });
});

test("the name of a file that does not load is shown to a person without what their terminal would act upon", async () => {
  const name = "\u001b]0;x\u0007\u009b31m";
  const plain = await tape(["digest", name]);
  const seen = await tape(["digest", name], { errIsTerminal: true });
  expect(plain.err[0]).toContain(`load tape ${name}: `);
  expect(seen.err[0]).toContain("load tape \ufffd]0;x\ufffd\ufffd31m: ");
});
