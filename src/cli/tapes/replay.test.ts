import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordedIo } from "../../testing/recorded-io.ts";
import { aRow, aSidecarHeader, aTape, sidecarText, tapeText } from "../../testing/tape-files.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";
import { recorderEnvironment } from "./replay.ts";

/** A program that does what is said here; it prints nothing, since its output is that of the tests. */
function program(source: string): string[] {
  const script = `const { writeFileSync, mkdirSync, symlinkSync } = require("node:fs"); const tape = process.env.ASSAY_TAPE; ${source}`;
  return ["--", process.execPath, "-e", script];
}

const TAPE = tapeText(aTape({ kind: "clock_sleep", duration_ms: 5n }));
const RECORDS = `writeFileSync(tape, ${JSON.stringify(TAPE)});`;

function bench(...rows: Parameters<typeof aRow>[0][]) {
  const folder = tempDir();
  const sidecar = join(folder, "s.jsonl");
  const events = rows.length === 0 ? [{ id: "n", evidence: "well done" }] : rows;
  writeFileSync(sidecar, sidecarText({ header: aSidecarHeader(), rows: events.map(aRow) }));
  return {
    folder,
    sidecar,
    path: (name: string) => join(folder, name),
    replay: async (...argv: string[]) => {
      const io = recordedIo();
      const code = await main(["tape", "replay", "--annotations", sidecar, ...argv], { io, env: {} });
      return { code, out: io.outText(), err: io.errLines.map((line) => line.replaceAll(`${folder}/`, "")) };
    },
  };
}

const BLOCK = [
  "[annotations] loaded 1 annotation(s) from s.jsonl",
  "  event seq=0 virtual_time_ms=0 kind=clock_sleep",
  "    [note] n: well done",
];

describe("a program that records a tape", () => {
  test("is told where, and the annotations are shown about what it recorded", async () => {
    expect(await bench().replay(...program(RECORDS))).toEqual({ code: 0, out: "", err: BLOCK });
  });

  test("keeps its exit code, unless the annotations have problems and it is lower than 2", async () => {
    expect(await bench().replay(...program(`${RECORDS} process.exit(7)`))).toMatchObject({ code: 7, err: BLOCK });
    const problem = { id: "n", event_id: 9n };
    for (const [own, code] of [
      [0, 2],
      [1, 2],
      [7, 7],
    ] as const) {
      const ended = await bench(problem).replay(...program(`${RECORDS} process.exit(${own})`));
      expect(ended).toMatchObject({ code, out: "" });
      expect(ended.err.at(-1)).toBe(
        "[assay] annotations validation failed with 1 problem(s); see `assay tape validate` for the structured report.",
      );
    }
  });

  test("that is killed ends with 128 and the signal, and what it recorded is looked at", async () => {
    const ended = await bench().replay(
      ...program(`${RECORDS} process.kill(process.pid, "SIGKILL"); setTimeout(() => {}, 1e5)`),
    );
    expect(ended).toEqual({ code: 128 + 9, out: "", err: BLOCK });
  });

  test("leaves its tape, with its bodies, where it is wanted, in place of an older one", async () => {
    const { path, folder, replay } = bench();
    const wanted = path("kept/new.tape");
    mkdirSync(`${wanted}.cas`, { recursive: true });
    writeFileSync(wanted, "older");
    writeFileSync(join(`${wanted}.cas`, "older"), "");
    const body = 'mkdirSync(tape + ".cas"); writeFileSync(tape + ".cas/body", "x");';
    expect((await replay("--emit-tape", wanted, ...program(body + RECORDS))).code).toBe(0);
    expect(readFileSync(wanted, "utf8")).toBe(TAPE);
    expect(readdirSync(join(folder, "kept"), { recursive: true }).sort()).toEqual(
      ["new.tape", "new.tape.cas", join("new.tape.cas", "body")].sort(),
    );
  });

  test("leaves nothing behind otherwise", async () => {
    const drafts = () => readdirSync(tmpdir()).filter((name) => name.startsWith("assay-tape-"));
    const { path, replay } = bench();
    await replay(...program(`${RECORDS} writeFileSync(${JSON.stringify(path("where"))}, tape)`));
    const told = readFileSync(path("where"), "utf8");
    expect(existsSync(told)).toBe(false);
    expect(drafts().filter((name) => told.includes(name))).toEqual([]);
  });

  test("gives a result on standard output with --json", async () => {
    const { path, replay } = bench({ id: "n", event_id: 9n });
    const { code, out } = await replay("--json", "--emit-tape", path("t"), ...program(RECORDS));
    expect([code, JSON.parse(out)]).toEqual([
      2,
      { exitCode: 0, tape: path("t"), events: 1, annotations: 1, problems: 1 },
    ]);
  });
});

describe("a program that records no tape", () => {
  test.each([
    ["", "the program wrote no tape to $ASSAY_TAPE"],
    ["mkdirSync(tape)", "the program wrote no tape to $ASSAY_TAPE"],
    ['symlinkSync("/dev/null", tape)', "the program wrote no tape to $ASSAY_TAPE"],
    [
      'writeFileSync(tape, "x\\n")',
      "load tape $ASSAY_TAPE: parse tape header in $ASSAY_TAPE: no JSON value begins here (column 1)",
    ],
  ])("is warned about and keeps its exit code: %s", async (source, warning) => {
    expect(await bench().replay(...program(`${source}; process.exitCode = 3`))).toEqual({
      code: 3,
      out: "",
      err: [`warning: ${warning}`],
    });
  });

  test("is not kept in the place of a folder, and takes nothing from beside it", async () => {
    const { path, replay } = bench();
    mkdirSync(path("folder"));
    mkdirSync(path("folder.cas"));
    writeFileSync(path("folder.cas/body"), "x");
    const { code, err } = await replay("--emit-tape", path("folder"), ...program(RECORDS));
    expect([code, err.at(-1)]).toEqual([1, expect.stringMatching(/^error: write folder: EISDIR/)]);
    expect(existsSync(path("folder.cas/body"))).toBe(true);
  });

  test("has not recorded what was there before", async () => {
    const { path, replay } = bench();
    writeFileSync(path("old.tape"), TAPE);
    const { err } = await replay("--emit-tape", path("old.tape"), ...program(""));
    expect(err).toEqual(["warning: the program wrote no tape to $ASSAY_TAPE"]);
    const broken = await replay("--emit-tape", path("old.tape"), ...program('writeFileSync(tape, "x")'));
    expect(broken.err).toEqual([
      expect.stringMatching(/^warning: load tape old\.tape: parse tape header in old\.tape: /),
    ]);
    expect(readFileSync(path("old.tape"), "utf8")).toBe(TAPE);
  });

  test("fails when events are asked for", async () => {
    const { replay } = bench();
    const last = "[assay] the program recorded no events, which --require-events asks for";
    const empty = JSON.stringify(tapeText(aTape()));
    for (const source of ["", `writeFileSync(tape, ${empty})`]) {
      const { code, err } = await replay("--require-events", ...program(source));
      expect([code, err.at(-1)]).toEqual([2, last]);
    }
    expect((await replay("--require-events", ...program(RECORDS))).code).toBe(0);
  });
});

describe("before anything runs", () => {
  const touches = (path: string) => program(`writeFileSync(${JSON.stringify(path)}, "")`);

  test("the sidecar is read to its end", async () => {
    const { sidecar, path, replay } = bench();
    writeFileSync(sidecar, `${readFileSync(sidecar, "utf8")}oops\n`);
    const { code, err } = await replay(...touches(path("ran")));
    expect([code, err]).toEqual([
      1,
      [expect.stringMatching(/^error: load annotations s\.jsonl: parse annotation at line 3 /)],
    ]);
    expect(existsSync(path("ran"))).toBe(false);
  });

  test("the subprocess tape is checked", async () => {
    const { path, replay } = bench();
    writeFileSync(path("p"), '[{"program":"a"},{"args":[]}]');
    const { code, out, err } = await replay("--json", "--process-tape", path("p"), ...touches(path("ran")));
    expect([code, out, err.length]).toEqual([1, "", 1]);
    expect(JSON.parse(err[0] ?? "")).toEqual({
      error: "process_tape_invalid",
      message: "load subprocess tape p: entry 2: `program` is missing",
      details: { path: "p", entry: 2 },
    });
    expect(existsSync(path("ran"))).toBe(false);
  });

  test("it is said when the program cannot be started", async () => {
    const { path, replay } = bench();
    expect(await replay("--", path("none"))).toEqual({
      code: 1,
      out: "",
      err: ["error: start none: there is no such program"],
    });
    writeFileSync(path("plain"), "");
    expect(await replay("--", path("plain"))).toMatchObject({
      code: 1,
      err: ["error: start plain: it may not be executed"],
    });
  });

  test("a sidecar and a program are asked for", async () => {
    const io = recordedIo();
    expect(await main(["tape", "replay", "--", "true"], { io, env: {} })).toBe(2);
    expect(await bench().replay()).toMatchObject({ code: 2 });
  });
});

describe("the environment of a recorder", () => {
  test("names the tapes absolutely and holds no secret of ours", () => {
    const own = {
      PATH: "/bin",
      ASSAY_KEY: "k",
      ASSAY_DATABASE_URL: "postgres://",
      ASSAY_URL: "u",
      ASSAY_PROCESS_TAPE: "old",
    };
    const told = recorderEnvironment(own, "a.tape", undefined);
    expect(told).toEqual({ PATH: "/bin", ASSAY_URL: "u", ASSAY_TAPE: join(process.cwd(), "a.tape") });
    expect(recorderEnvironment(own, "/a.tape", "p.json")).toMatchObject({
      ASSAY_TAPE: "/a.tape",
      ASSAY_PROCESS_TAPE: join(process.cwd(), "p.json"),
    });
  });
});
