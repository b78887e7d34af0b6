import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fileBytes } from "../../src/cli/tapes/files/tape-files.ts";
import { loadSidecar } from "../../src/formats/tapes/sidecar/read-sidecar.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import * as processes from "./assay.ts";
import { assay } from "./in-process.ts";

const TAPE = [
  '{"type":"header","version":1,"harn_version":"1"}',
  '{"type":"record","seq":0,"virtual_time_ms":0,"monotonic_ms":0,"kind":{"kind":"clock_sleep","duration_ms":1}}',
  "",
].join("\n");
const NOTE = ["tape", "annotate", "run.tape", "--event", "0", "--kind", "note", "--evidence"];

function folderWithTape(): { cwd: string; sidecar: string } {
  const cwd = tempDir();
  writeFileSync(join(cwd, "run.tape"), TAPE);
  return { cwd, sidecar: join(cwd, "run.tape.annotations.jsonl") };
}

describe("many who annotate one tape at once", () => {
  test("each get a row of their own, also when the file is not there yet", async () => {
    const { cwd, sidecar } = folderWithTape();
    const calls = Array.from({ length: 6 }, (_, n) => processes.assay([...NOTE, `by ${n}`], { cwd }));
    const ended = await Promise.all(calls);
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, ""]));
    const { header, rows } = await loadSidecar(sidecar, fileBytes(sidecar));
    expect(header.tape_path).toBe("run.tape");
    expect(rows.map(({ evidence }) => evidence).sort()).toEqual(ended.map((_, n) => `by ${n}`));
    const ids = ended.map((_, n) => `ann_0_${n + 1}`);
    expect(rows.map(({ id }) => id)).toEqual(ids);
    expect(ended.map(({ stdout }) => stdout.trim()).sort()).toEqual(ids);
    expect(readdirSync(cwd).sort()).toEqual(["run.tape", "run.tape.annotations.jsonl"]);
  });

  test("may be killed while they write: what is in the file is whole, and the next one goes on", async () => {
    const { cwd, sidecar } = folderWithTape();
    const lock = `${sidecar}.lock`;
    // Long enough to be read for a while, with the lock held.
    const rows = Array.from(
      { length: 20_000 },
      (_, n) => `{"type":"annotation","id":"r${n}","event_id":0,"kind":"note"}\n`,
    );
    writeFileSync(sidecar, `{"type":"header","schema_version":1}\n${rows.join("")}`);
    for (const laterMs of [0, 40, 80]) {
      const one = processes.start([...NOTE, "killed"], { cwd });
      while (!existsSync(lock) && one.child.exitCode === null) await sleep(1);
      await sleep(laterMs);
      one.child.kill("SIGKILL");
      await one.ended;
    }
    const before = readFileSync(sidecar, "utf8");
    expect(await assay([...NOTE, "after"], { cwd })).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(sidecar, "utf8").startsWith(before)).toBe(true);
    const { rows: found } = await loadSidecar(sidecar, fileBytes(sidecar));
    expect(found.at(-1)?.evidence).toBe("after");
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    expect(existsSync(lock)).toBe(false);
  });
});
