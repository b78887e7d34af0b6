import { describe, expect, test } from "vitest";
import type { RecordKind } from "../../formats/tapes/tape.ts";
import { aTape, tapeText } from "../../testing/tape-files.ts";
import { rowsText, tapeFolder } from "../../testing/tape-folder.ts";

const body = { content_hash: "h", text: "" };

function spawn(program: string, ...args: readonly string[]): RecordKind {
  const payloads = { stdout_payload: body, stderr_payload: body };
  return { kind: "process_spawn", program, args, cwd: null, exit_code: 0n, duration_ms: 1n, ...payloads };
}
const ask: RecordKind = { kind: "llm_call", request_digest: "d", response: body };
const sleep: RecordKind = { kind: "clock_sleep", duration_ms: 1n };

const release = (tag: string) => tapeText(aTape(ask, spawn("git", "tag", tag), sleep, spawn("npm", "publish")));
const deploy = tapeText(aTape(spawn("build"), spawn("ship"), spawn("ls")));
const FILES = {
  "a/run.tape": release("v1"),
  // Blank lines are no records: what is read again must still be the right ones.
  "b/run.tape": release("v2").replaceAll("\n", "\n\n \n"),
  "c/run.tape": deploy,
  "d/run.tape": deploy.replace('"ls"', '"cat"'),
  "e/run.tape": release("v3"),
};
const anchored = rowsText([
  {
    id: "x",
    kind: "crystallize_here",
    event_id: 0n,
    span: { start_event_id: 0n, end_event_id: 1n },
    author: { id: "scout", kind: "agent", surface: null },
    evidence: "always the same",
  },
]);

describe("assay tape candidates", () => {
  test("lists what tapes have in common, where, how certain, and what varies", async () => {
    const { tape } = tapeFolder(FILES);
    expect(await tape("candidates DIR")).toEqual({
      code: 0,
      err: [],
      out: [
        "1. 3 steps, in 3 of 5 tapes, confidence 0.62",
        "    1  llm_call model (request)  a model decides",
        "    2  process_spawn git (args)",
        "    3  process_spawn npm (args)",
        "   found in  DIR/a/run.tape from event 0 to 3",
        "             DIR/b/run.tape from event 0 to 3",
        "             DIR/e/run.tape from event 0 to 3",
        '   varies    step 2 args: ["tag","v1"], ["tag","v2"], ["tag","v3"]',
        "",
        "2. 2 steps, in 2 of 5 tapes, confidence 0.61",
        "    1  process_spawn build",
        "    2  process_spawn ship",
        "   found in  DIR/c/run.tape from event 0 to 1",
        "             DIR/d/run.tape from event 0 to 1",
        "",
      ].join("\n"),
    });
  });

  test("puts first what somebody asked for", async () => {
    const { tape } = tapeFolder({ ...FILES, "d/run.tape.annotations.jsonl": anchored });
    const { out } = await tape("candidates DIR --limit 1");
    expect(out).toContain("1. 2 steps, in 2 of 5 tapes");
    expect(out).toContain("   asked for by scout (agent) at DIR/d/run.tape event 0: always the same\n");
    expect(out).toMatch(/\n1 more sequence; --limit shows more\.\n$/);
    const { candidates, found } = JSON.parse((await tape("candidates DIR --json")).out);
    expect(found).toBe(2);
    expect(candidates[0]).toMatchObject({
      rank: 1,
      steps: [{ signature: "process_spawn:build:", deterministic: true }, { name: "ship" }],
      tapes: [{ path: "DIR/c/run.tape", firstSeq: 0, lastSeq: 1 }, { path: "DIR/d/run.tape" }],
      anchors: [{ path: "DIR/d/run.tape", event_id: 0, end_event_id: 1, author: { id: "scout" } }],
    });
    expect(candidates[1]).toMatchObject({
      rank: 2,
      anchors: [],
      varies: [{ step: 2, parameter: "args", distinct: 3 }],
    });
  });

  test("goes by no anchor that a later row has replaced", async () => {
    const later = rowsText([{ kind: "note", event_id: 0n, metadata: new Map([["supersedes", "x"]]) }]);
    const sidecar = anchored + later.split("\n").slice(1).join("\n");
    const { tape } = tapeFolder({ ...FILES, "d/run.tape.annotations.jsonl": sidecar });
    expect((await tape("candidates DIR")).out).not.toContain("asked for");
  });

  test("prints numbers of events exactly", async () => {
    const late = FILES["c/run.tape"].replaceAll('"seq":', '"seq":1844674407370955161');
    const { tape } = tapeFolder({ "c.tape": late, "d.tape": late });
    expect((await tape("candidates DIR --json")).out).toContain(
      '"firstSeq":18446744073709551610,"lastSeq":18446744073709551612',
    );
  });

  test("says what is missing when there is nothing to find", async () => {
    const { tape } = tapeFolder(FILES);
    expect((await tape("candidates DIR --min-examples 4")).out).toBe(
      "No sequence of actions is in 4 or more of 5 tapes.\n",
    );
    expect((await tape("candidates DIR/a")).out).toBe("Nothing to compare: 1 tape, and 2 are needed.\n");
    expect(await tape("candidates DIR/a/none")).toMatchObject({ code: 1, out: "" });
  });

  test("ends at a tape or a sidecar that does not load, unless those are to be skipped", async () => {
    const broken = { ...FILES, "c/run.tape": "{}\n", "d/run.tape.annotations.jsonl": "{}" };
    const { tape } = tapeFolder(broken);
    const ended = await tape("candidates DIR");
    expect(ended).toMatchObject({ code: 1, out: "" });
    expect(ended.err[0]).toMatch(/^error: load tape DIR\/c\/run\.tape: parse tape header/);
    const { code, out, err } = await tape("candidates DIR --json --skip-broken");
    expect({ code, complaints: err.length }).toEqual({ code: 2, complaints: 2 });
    expect(JSON.parse(out)).toMatchObject({
      tapes: 3,
      skipped: [
        { code: "tape_header_parse", path: "DIR/c/run.tape", line: 1 },
        { code: "header_parse", path: "DIR/d/run.tape.annotations.jsonl", line: 1 },
      ],
    });
  });
});
