import { describe, expect, test } from "vitest";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { rowsText, tapeFolder } from "../../testing/tape-folder.ts";

const friction = (id: string, evidence: string, more: Partial<Row> = {}): Partial<Row> => ({
  id,
  kind: "friction",
  friction_kind: "repeated_query",
  evidence,
  timestamp: `2026-01-01T00:00:00Z`,
  ...more,
});

const metadata = new Map([
  ["query", "select 1"],
  ["doc_url", "https://example.test/d"],
  ["tool", "psql"],
  ["capability", "db.read"],
  ["secret_ref", "DB_RO"],
]);
const FERRY = rowsText([friction("q1", "Ferry times?", { metadata }), friction("q2", "ferry times")], "ferry.tape");

describe("assay tape suggest", () => {
  test("prints what each pack would hold, its evidence and what to do", async () => {
    const { tape } = tapeFolder({ "a.jsonl": FERRY });
    expect(await tape("suggest DIR/a.jsonl --owner harbour")).toEqual({
      code: 0,
      err: [],
      out: [
        "1. ferry.tape ferry times context pack",
        "   met 2 times as repeated_query, confidence 0.62",
        "   holds     query select 1",
        "             document https://example.test/d",
        "             tool psql",
        "             capability db.read",
        "             secret DB_RO, by name only",
        "             slot primary_context",
        "   evidence  q1: Ferry times?",
        "             q2: ferry times",
        "   next      have this ready before the work starts; for harbour to review (--json has the draft)",
        "",
      ].join("\n"),
    });
  });

  test("prints the bare list as JSON, and nothing else", async () => {
    const { tape } = tapeFolder({ "a.jsonl": FERRY, "b.jsonl": rowsText([]) });
    const { out, err } = await tape("suggest DIR/a.jsonl --json");
    expect(err).toEqual([]);
    const [suggestion, ...others] = JSON.parse(out);
    expect(others).toEqual([]);
    expect(suggestion.id).toMatch(
      /^context_pack_suggestion_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(suggestion.created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect((await tape("suggest DIR/b.jsonl --json")).out).toBe("[]\n");
  });

  test("says so when nothing was met often enough", async () => {
    const { tape } = tapeFolder({ "a.jsonl": FERRY });
    const { code, out } = await tape("suggest DIR/a.jsonl --min-occurrences 3");
    expect({ code, out }).toEqual({
      code: 0,
      out: "Nothing to suggest: 2 friction rows in DIR/a.jsonl, none of them 3 times.\n",
    });
  });

  test("takes more rows than a call takes arguments", async () => {
    const row = '{"type":"annotation","event_id":0,"kind":"friction","friction_kind":"tool_gap"}\n';
    const { tape } = tapeFolder({ "a.jsonl": rowsText([]) + row.repeat(130_000) });
    expect((await tape("suggest DIR/a.jsonl")).out).toContain("   met 130000 times as tool_gap, confidence 0.9\n");
  });

  test("cannot be led to move the cursor by what others wrote", async () => {
    const evidence = "\u001b[2Jgone\u202e";
    const { tape } = tapeFolder({ "a.jsonl": rowsText([friction("a", evidence), friction("b\u0007", evidence)]) });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect((await tape("suggest DIR/a.jsonl")).out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});

describe("assay tape suggest of a directory", () => {
  const files = {
    "a/run.tape.annotations.jsonl": rowsText([friction("q1", "ferry times")], "recorded/ferry.tape"),
    "b/run.tape.annotations.jsonl": rowsText([friction("q1", "Ferry times!", { timestamp: "2026-01-02T00:00:00Z" })]),
    ".hidden/x.annotations.jsonl": rowsText([friction("q9", "ferry times")]),
    "node_modules/x.annotations.jsonl": "broken",
    "notes.jsonl": "broken",
  };

  test("lets the rows of different tapes meet, and says where each was", async () => {
    const { tape } = tapeFolder(files);
    const { code, out } = await tape("suggest DIR");
    expect(code).toBe(0);
    expect(out).toContain("1. team ferry times context pack\n");
    expect(out).toContain("q1 in recorded/ferry.tape: ferry times\n");
    expect(out).toContain("q1 in DIR/b/run.tape: Ferry times!\n");
    const [suggestion] = JSON.parse((await tape("suggest DIR --json")).out);
    expect(suggestion.evidence).toHaveLength(2);
    expect((await tape("suggest DIR/a/run.tape.annotations.jsonl --json")).out).toBe("[]\n");
  });

  test("ends at the first file that does not load", async () => {
    const { tape } = tapeFolder({ ...files, "c/run.tape.annotations.jsonl": `${rowsText([])}{\n` });
    const { code, out, err } = await tape("suggest DIR --json");
    expect([code, out]).toEqual([1, ""]);
    expect(JSON.parse(err[0] ?? "")).toEqual({
      error: "record_parse",
      message: expect.stringMatching(
        /^load annotations DIR\/c\/run\.tape\.annotations\.jsonl: parse annotation at line 2 in /,
      ),
      details: { path: "DIR/c/run.tape.annotations.jsonl", line: 2 },
    });
  });

  test("goes on without files that do not load when asked to, names them and ends with 2", async () => {
    const { tape } = tapeFolder({ ...files, "c/run.tape.annotations.jsonl": "{" });
    const { code, out, err } = await tape("suggest DIR --skip-broken --json");
    expect({ code, suggestions: JSON.parse(out).length }).toEqual({ code: 2, suggestions: 1 });
    expect(err).toHaveLength(1);
    expect(err[0]).toMatch(
      /^skipped: load annotations DIR\/c\/run\.tape\.annotations\.jsonl: parse annotation header at line 1/,
    );
  });

  test("refuses one without any sidecar, and names a path that is not there", async () => {
    const { tape } = tapeFolder({ "x/run.tape": "" });
    expect(await tape("suggest DIR")).toEqual({
      code: 2,
      out: "",
      err: ["error: there is no *.annotations.jsonl below DIR."],
    });
    const missing = await tape("suggest DIR/none");
    expect(missing.code).toBe(1);
    expect(missing.err[0]).toMatch(/^error: load annotations DIR\/none: read DIR\/none: ENOENT/);
  });
});
