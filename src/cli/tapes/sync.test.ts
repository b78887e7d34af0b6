import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { Member } from "../../testing/inbox-client.ts";
import { JudgmentClient } from "../../testing/judgment-client.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { HEADER, line, sidecar } from "../../testing/sidecar-client.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { lockOf } from "../files/file-lock.ts";
import { main } from "../main.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;

describe("tapes between files and a server", () => {
  let host: TestHost;
  let url: string;
  let judges: JudgmentClient;
  let folder: string;
  let tape: string;
  let path: string;
  let runId: string;
  let tapes = 0;

  beforeAll(async () => {
    host = await testHost();
    url = await host.listen();
    judges = new JudgmentClient(host);
  });
  afterAll(() => host.close());

  beforeEach(async () => {
    folder = tempDir();
    tape = join(folder, "run.tape");
    path = `${tape}.annotations.jsonl`;
    tapes += 1;
    const record = (seq: number) =>
      `{"type":"record","seq":${seq},"virtual_time_ms":${tapes},"monotonic_ms":0,"kind":{"kind":"clock_sleep","duration_ms":1}}\n`;
    const text = `{"type":"header","version":1,"harn_version":"1"}\n${record(0)}${record(1)}`;
    writeFileSync(tape, text);
    runId = (await host.ask("POST", "/v1/host/assay/tapes", { json: { tape: text } })).json().runId;
  });

  const assay = async (argv: string[], key: string = KEYS.owner.key, more: Record<string, string> = {}) => {
    const io = recordedIo();
    const code = await main(argv, { io, env: { ASSAY_URL: url, ASSAY_KEY: key, ...more }, cwd: folder });
    return { code, out: io.outLines.join("\n"), err: io.errLines.join("\n") };
  };
  const push = (...argv: string[]) => assay(["tape", "push", tape, ...argv]);
  const pull = (...argv: string[]) => assay(["tape", "pull", tape, ...argv]);
  const here = () => readFileSync(path, "utf8");

  test("go there and back, secrets and spelling staying here", async () => {
    const text = `# ${SECRET}\r\n${sidecar({ id: "a", kind: "correct", evidence: `see ${SECRET}` }, { event_id: 1 })}`;
    writeFileSync(path, text);
    const dry = await push("--dry-run");
    expect(dry.out.split("\n")).toEqual([
      "+ line 3  a  new",
      "+ line 4  (no id)  new",
      `${runId}: 2 rows would be recorded, 0 would be changed, 0 unchanged`,
    ]);
    expect((await judges.page({ runId })).annotations).toEqual([]);
    const first = await push();
    expect(first).toMatchObject({ code: 0, out: `${runId}: 2 rows recorded, 0 changed, 0 unchanged` });
    expect(first.err).toBe("Secrets in 2 lines were not sent.");
    expect((await push()).out).toBe(`${runId}: 0 rows recorded, 0 changed, 2 unchanged`);
    expect(await pull()).toEqual({ code: 0, out: `${path}: nothing to change`, err: "" });
    expect(here()).toBe(text);

    const { annotationId } = await judges.rate(runId, 2, { note: "slow" });
    const [pushed] = (await judges.page({ runId, signal: "label", label: "pass" })).annotations;
    await judges.retract(pushed?.annotationId ?? "");
    writeFileSync(path, `${here()}# later\n${line({ id: "local" })}\n`);
    const before = here();
    const shown = await pull("--dry-run");
    expect(shown.out.split("\n")).toEqual([
      expect.stringMatching(/^- \{"type":"annotation".*"correct"/),
      expect.stringContaining(`+ {"type":"annotation","id":"${annotationId}"`),
      `${path}: 1 row would be added, 0 would be changed, 1 would be removed`,
    ]);
    expect(shown.err).toBe("1 row of the file not pushed yet: kept.");
    expect(here()).toBe(before);
    expect((await pull()).out).toBe(`${path}: 1 row added, 0 changed, 1 removed`);
    const lines = here().split("\n");
    expect(lines.slice(0, 5)).toEqual([
      `# ${SECRET}\r`,
      HEADER,
      line({ event_id: 1 }),
      "# later",
      line({ id: "local" }),
    ]);
    expect(JSON.parse(lines[5] ?? "")).toMatchObject({ id: annotationId, evidence: "slow" });
    expect(readdirSync(folder).sort()).toEqual(["run.tape", "run.tape.annotations.jsonl"]);
  });

  test("bring what is only on the server to whoever has no file yet", async () => {
    writeFileSync(path, sidecar({ id: "a" }, { id: "b" }));
    await push();
    const copy = join(folder, "new", "copy.jsonl");
    const answer = await pull("--annotations", copy, "--json");
    expect(JSON.parse(answer.out)).toEqual({
      runId,
      file: copy,
      added: 2,
      changed: 0,
      removed: 0,
      onlyHere: 0,
      editedHere: 0,
      written: true,
      dryRun: false,
    });
    expect(readFileSync(copy, "utf8")).toBe(here());
    writeFileSync(copy, sidecar({ id: "a", evidence: "edited" }, { id: "b" }));
    expect((await pull("--annotations", copy)).err).toBe("1 row changed in the file and not pushed yet: kept.");
  });

  test("say what rows would do, and did, to the server", async () => {
    writeFileSync(path, sidecar({ id: "a" }, { id: "b" }, { id: "c" }));
    const { changes } = JSON.parse((await push("--json")).out);
    await judges.retract(changes[2].annotationId);
    writeFileSync(path, sidecar({ id: "a", evidence: "other" }, { id: "c" }));
    const told = await push("--prune", "--dry-run");
    expect(told.out.split("\n")).toEqual([
      "~ line 2  a  changed",
      "! line 3  c  was retracted on the server",
      `- ${changes[1].annotationId}  b  to be retracted`,
      `${runId}: 0 rows would be recorded, 1 would be changed, 0 unchanged, 1 retracted there before, 1 would be retracted`,
    ]);
    expect((await push()).err).toContain("1 annotation only on the server");
    expect((await push("--prune")).out).toContain("1 retracted");
  });

  test("work with any run that is named, without reading a tape", async () => {
    const other = await host.newRun();
    const file = join(folder, "notes.jsonl");
    writeFileSync(file, sidecar({ id: "a" }));
    const named = ["--run", other, "--annotations", file];
    expect(await assay(["tape", "push", "no-such-tape", ...named])).toMatchObject({ code: 0 });
    expect((await assay(["tape", "pull", "no-such-tape", ...named])).out).toContain("nothing to change");
  });

  test("are told to import a tape that the server does not have", async () => {
    writeFileSync(tape, readFileSync(tape, "utf8").replace('"duration_ms":1', '"duration_ms":2'));
    writeFileSync(path, sidecar());
    for (const told of [await push(), await pull()]) {
      expect(told).toMatchObject({ code: 2, out: "" });
      expect(told.err).toContain(`assay tape import ${tape}`);
    }
  });

  test("stop before anything is sent or written when a file does not load", async () => {
    writeFileSync(path, `${HEADER}\n{"type":"annotation"}\n`);
    const before = here();
    for (const command of [push, pull]) {
      const told = await command("--json");
      expect(told.code).toBe(1);
      expect(JSON.parse(told.err)).toEqual({
        error: "record_parse",
        message: expect.stringContaining(`load annotations ${path}: parse annotation at line 2 in ${path}: `),
        details: { path, line: 2 },
      });
    }
    expect(here()).toBe(before);
    expect((await push("--annotations", "nowhere.jsonl")).err).toContain("read nowhere.jsonl");
    writeFileSync(path, Buffer.from([0xff]));
    expect((await push()).err).toContain("valid UTF-8");
    writeFileSync(tape, "{");
    expect((await push()).err).toMatch(/^error: load tape /);
  });

  test("leave every secret here that this process was given, whatever it looks like", async () => {
    const env = { ASSAY_DATABASE_URL: "postgres://assay:plainword77@db.example/assay" };
    writeFileSync(path, sidecar({ id: "a", evidence: "the database is plainword77" }));
    const { code, err } = await assay(["tape", "push", tape], KEYS.owner.key, env);
    expect([code, err]).toEqual([0, "Secrets in 1 line were not sent."]);
    expect((await assay(["tape", "pull", tape], KEYS.owner.key, env)).out).toMatch(/nothing to change$/);
    expect(here()).toContain("plainword77");
  });

  test("are pulled with the lock of the file held, as rows are added", async () => {
    writeFileSync(path, sidecar({ id: "a" }));
    await push();
    const gone = { pid: 2 ** 30, host: hostname(), token: "of a process that was killed" };
    writeFileSync(lockOf(path), JSON.stringify(gone));
    expect((await pull("--dry-run")).code).toBe(0);
    expect(existsSync(lockOf(path))).toBe(true);
    expect((await pull()).code).toBe(0);
    expect(existsSync(lockOf(path))).toBe(false);
  });

  test("name the lines that the server refuses, and who may not", async () => {
    writeFileSync(path, sidecar({ id: "a" }, { id: "b", event_id: 7 }));
    const refused = await push();
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("line 3: event 7 is not in this run");
    const ana = await Member.join(host, `ana${tapes}`);
    writeFileSync(path, sidecar({ id: "a", author: { id: "zoe", kind: "human" } }));
    const denied = await assay(["tape", "push", tape], ana.key);
    expect(denied.code).toBe(3);
    expect(denied.err).toContain("judgments:import");
    expect((await assay(["tape", "push", tape], KEYS.viewer.key)).code).toBe(3);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});
