import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fileBytes } from "../../src/cli/tape/file-bytes.ts";
import { loadSidecar } from "../../src/formats/sidecar/read-sidecar.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay, start } from "./assay.ts";

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
    const ended = await Promise.all(Array.from({ length: 6 }, (_, n) => assay([...NOTE, `by ${n}`], { cwd })));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, ""]));
    const { header, rows } = await loadSidecar(sidecar, fileBytes(sidecar));
    expect(header.tape_path).toBe("run.tape");
    expect(rows.map(({ evidence }) => evidence).sort()).toEqual(ended.map((_, n) => `by ${n}`));
    const ids = ended.map((_, n) => `ann_0_${n + 1}`);
    expect(rows.map(({ id }) => id)).toEqual(ids);
    expect(ended.map(({ stdout }) => stdout.trim()).sort()).toEqual(ids);
    expect(readdirSync(cwd).sort()).toEqual(["run.tape", "run.tape.annotations.jsonl"]);
  });

  test("may be killed at any time: what is in the file is whole, and the next one goes on", async () => {
    const { cwd, sidecar } = folderWithTape();
    const killed = Array.from({ length: 8 }, async (_, n) => {
      const one = start([...NOTE, `by ${n} ${"long ".repeat(2_000)}`], { cwd });
      await sleep(150 + n * 60);
      one.child.kill("SIGKILL");
      await one.ended;
    });
    await Promise.all(killed);
    const before = existsSync(sidecar) ? readFileSync(sidecar, "utf8") : "";
    expect(await assay([...NOTE, "after"], { cwd })).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(sidecar, "utf8").startsWith(before)).toBe(true);
    const { rows } = await loadSidecar(sidecar, fileBytes(sidecar));
    expect(rows.at(-1)?.evidence).toBe("after");
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });
});
