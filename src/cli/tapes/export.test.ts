import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { printExportedRow, type Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { KNOWN_SECRET } from "../../testing/engine.ts";
import { CANARIES, readableIn } from "../../testing/secret-canaries.ts";
import { folderWith, tape } from "../../testing/tape-command.ts";
import { aRow, aSidecarHeader, sidecarText } from "../../testing/tape-files.ts";

function fileWith(rows: readonly Row[], after = ""): { folder: string; path: string } {
  const text = sidecarText({ header: aSidecarHeader({ tape_path: "run.tape" }), rows });
  const folder = folderWith({ s: text + after });
  return { folder, path: join(folder, "s") };
}

const lines = (rows: readonly Row[]) => rows.map((row) => `${printExportedRow(row)}\n`).join("");

describe("an export", () => {
  test("of a file whose last line is wrong prints nothing and writes nothing", async () => {
    const { folder, path } = fileWith([aRow({ id: "a" }), aRow({ id: "b" })], '{"type":"annotation"}');
    for (const more of [[], ["--latest"], ["--format", "friction"], ["--redact"], ["--output", join(folder, "out")]]) {
      const result = await tape(["export", path, ...more]);
      expect(result).toMatchObject({ exit: 1, out: "" });
      expect(result.err).toEqual([expect.stringContaining(`parse annotation at line 4 in ${path}: `)]);
    }
    expect(readdirSync(folder)).toEqual(["s"]);
  });

  test("does not take the place of the file it is made from", async () => {
    const { folder, path } = fileWith([aRow({ id: "a" })]);
    const before = readFileSync(path, "utf8");
    symlinkSync("s", join(folder, "link"));
    for (const output of [path, join(folder, "link")]) {
      const result = await tape(["export", path, "--output", output]);
      expect(result).toMatchObject({ exit: 2, err: [expect.stringContaining(`--output would replace ${path}`)] });
    }
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("checks kinds, then the format, and then looks at the file", async () => {
    expect((await tape(["export", "nothing", "--kind", "x", "--format", "y"])).err[0]).toContain(
      "unknown annotation kind 'x'",
    );
    expect((await tape(["export", "nothing", "--format", "y"])).err[0]).toContain("--format must be");
    expect((await tape(["export", "nothing", "--format", ""])).err[0]).toContain(
      "load annotations nothing: read nothing: ",
    );
  });

  test("to a file says how many were selected, also those that the format has no words for", async () => {
    const { folder, path } = fileWith([aRow(), aRow({ kind: "friction", friction_kind: "tool_gap", timestamp: "t" })]);
    const output = join(folder, "made", "out");
    const result = await tape(["export", path, "--format", "friction", "--output", output, "--json"]);
    expect(result.err).toEqual([`[assay] exported 2 annotation(s) to ${output} (format=friction)`]);
    expect(JSON.parse(result.out)).toEqual({ file: output, annotations: 2, format: "friction" });
    expect(readFileSync(output, "utf8").split("\n")).toHaveLength(2);
  });

  test("of nothing is an empty file", async () => {
    const { folder, path } = fileWith([aRow()]);
    await tape(["export", path, "--kind", "mute", "--output", join(folder, "out")]);
    expect(readFileSync(join(folder, "out"), "utf8")).toBe("");
  });

  test("calls an empty format jsonl", async () => {
    const { folder, path } = fileWith([aRow()]);
    const { err } = await tape(["export", path, "--format", "", "--output", join(folder, "out")]);
    expect(err[0]).toMatch(/\(format=jsonl\)$/);
  });
});

describe("an export of the latest", () => {
  const row = (id: string, supersedes?: string, over: Partial<Row> = {}) =>
    aRow({
      id,
      kind: "hypothesis",
      metadata: new Map(supersedes === undefined ? [] : [["supersedes", supersedes]]),
      ...over,
    });
  const chain = [row("a"), row("n", undefined, { kind: "note" }), row("b", "a"), row("c", "b"), row("d", "b")];

  test("leaves out what was replaced, in the order of the file, and says how many", async () => {
    const { path } = fileWith(chain);
    const { out, err, exit } = await tape(["export", path, "--latest"]);
    expect(out).toBe(lines([chain[1], chain[3], chain[4]] as Row[]));
    expect({ err, exit }).toEqual({ err: ["[assay] left out 2 annotations that a later one replaces"], exit: 0 });
  });

  test("leaves out first and selects then: what a row of another kind replaced is gone", async () => {
    const { path } = fileWith([row("a"), row("b", "a", { kind: "note" })]);
    expect(await tape(["export", path, "--latest", "--kind", "hypothesis"])).toMatchObject({ out: "" });
  });

  test("may be of some kinds only, whatever stands between them", async () => {
    const { path } = fileWith(chain);
    const { out } = await tape(["export", path, "--latest", "--kind", "hypothesis"]);
    expect(out).toBe(lines([chain[3], chain[4]] as Row[]));
  });

  test("counts what is left, and keeps rows in step with lines when some have none", async () => {
    const friction = { kind: "friction", friction_kind: "tool_gap", timestamp: "t" } as const;
    const { folder, path } = fileWith([
      row("n", undefined, { kind: "note" }),
      row("a", undefined, friction),
      row("b", "a", friction),
    ]);
    const output = join(folder, "out");
    const { err } = await tape(["export", path, "--latest", "--format", "friction", "--output", output]);
    expect(err.at(-1)).toBe(`[assay] exported 2 annotation(s) to ${output} (format=friction)`);
    expect(readFileSync(output, "utf8")).toMatch(/^\{"schema_version":1,"id":"b",[^\n]*\n$/);
  });

  test("says when links lead nowhere, and drops nothing for them", async () => {
    const rows = [row("a", "b"), row("b", "gone")];
    const { out, err } = await tape(["export", fileWith(rows).path, "--latest"]);
    expect(out).toBe(lines(rows));
    expect(err).toEqual([expect.stringContaining("2 links (metadata.supersedes) replaced nothing")]);
  });
});

describe("an export that is redacted", () => {
  const secrets = CANARIES.filter(({ secret }) => secret !== KNOWN_SECRET);
  const rows = secrets.map(({ text }, i) =>
    aRow({
      id: `r${i}`,
      kind: "friction",
      friction_kind: "tool_gap",
      evidence: text,
      metadata: new Map([[text, [text]]]),
    }),
  );

  test.each(["jsonl", "friction"])("has no secret left in it: %s", async (format) => {
    const { path } = fileWith(rows);
    expect(readableIn((await tape(["export", path, "--format", format])).out)).toHaveLength(secrets.length);
    const { out } = await tape(["export", path, "--format", format, "--redact"]);
    expect(readableIn(out)).toEqual([]);
    expect(out.split("\n")).toHaveLength(rows.length + 1);
  });

  test("has none in the name of the tape either", async () => {
    const secret = secrets[0]?.text ?? "";
    const header = aSidecarHeader({ tape_path: secret });
    const text = sidecarText({ header, rows: [aRow({ kind: "friction", friction_kind: "tool_gap" })] });
    const path = join(folderWith({ s: text }), "s");
    expect(readableIn((await tape(["export", path, "--format", "friction", "--redact"])).out)).toEqual([]);
  });
});
