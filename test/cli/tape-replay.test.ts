import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { recordedIo } from "../../src/testing/recorded-io.ts";
import { aRow, aSidecarHeader, aTape, sidecarText, tapeText } from "../../src/testing/tape-files.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay, start } from "./assay.ts";

const folder = tempDir();
const sidecar = join(folder, "s.jsonl");
writeFileSync(sidecar, sidecarText({ header: aSidecarHeader(), rows: [aRow({ id: "n", evidence: "well done" })] }));

const TAPE = JSON.stringify(tapeText(aTape({ kind: "clock_sleep", duration_ms: 5n })));
const RECORD = `require("node:fs").writeFileSync(process.env.ASSAY_TAPE, ${TAPE});`;

function replay(source: string, ...flags: string[]): string[] {
  return ["tape", "replay", "--annotations", sidecar, ...flags, "--", process.execPath, "-e", source];
}

const BLOCK = `[annotations] loaded 1 annotation(s) from ${sidecar}
  event seq=0 virtual_time_ms=0 kind=clock_sleep
    [note] n: well done
`;

describe("a recorder run by `assay tape replay`", () => {
  const copies = `${RECORD} process.stdin.pipe(process.stdout); console.error("by the way");`;

  test("has the input, the output and the errors of the command to itself", async () => {
    const { code, stdout, stderr } = await assay(replay(copies), { stdin: "in and out" });
    expect([code, stdout, stderr]).toEqual([0, "in and out", `by the way\n${BLOCK}`]);
  });

  test("leaves standard output to the result when that is wanted as JSON", async () => {
    const { stdout, stderr } = await assay(replay(copies, "--json"), { stdin: "in and out" });
    expect(JSON.parse(stdout)).toEqual({ exitCode: 0, tape: null, events: 1, annotations: 1, problems: 0 });
    expect(stderr).toContain("in and out");
  });

  test("is passed the signal that asks to end, and what it recorded then is looked at", async () => {
    const emitted = join(folder, "new.tape");
    const ends = `process.on("SIGTERM", () => { ${RECORD} process.exit(5); }); setInterval(() => {}, 1000); console.log("ready");`;
    const running = start(replay(ends, "--emit-tape", emitted));
    await running.until((stdout) => stdout.includes("ready"));
    running.child.kill("SIGTERM");
    expect([await running.ended, running.stderr()]).toEqual([5, BLOCK]);
    expect(existsSync(emitted)).toBe(true);
  });
});

describe("the example", () => {
  const examples = fileURLToPath(new URL("../../examples/tapes/", import.meta.url));
  const annotations = join(examples, "watering.tape.annotations.jsonl");

  async function recorded(): Promise<string> {
    const tape = join(tempDir(), "watering.tape");
    const flags = [
      "--annotations",
      annotations,
      "--process-tape",
      join(examples, "processes.json"),
      "--emit-tape",
      tape,
    ];
    const program = ["--", process.execPath, join(examples, "recorder.js")];
    const { code, stdout, stderr } = await assay(["tape", "replay", ...flags, ...program]);
    expect([code, stdout]).toEqual([0, "watered bed 4: opened\n"]);
    expect(stderr).toContain("kind=process_spawn\n    [correct] valve: Opened the right valve.\n");
    return tape;
  }

  test("records the same each time, from the subprocesses it is given, and is what the page about bundles shows", async () => {
    const [first, second] = [await recorded(), await recorded()];
    const io = recordedIo();
    expect(await main(["tape", "diff", first, second], { io, env: {} })).toBe(0);
    expect(readFileSync(first, "utf8")).toContain('"duration_ms":40');
    await main(["tape", "bundle", first, "--annotations", annotations], { io, env: {} });
    const page = readFileSync(new URL("../../docs/formats/tape-bundle.md", import.meta.url), "utf8");
    const [, shown = "none"] = /```json\n(.*?)```/s.exec(page) ?? [];
    expect(readFileSync(`${first}.bundle.tar`, "utf8")).toContain(shown);
  });
});
