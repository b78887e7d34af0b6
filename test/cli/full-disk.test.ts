import { spawnSync } from "node:child_process";
import { closeSync, copyFileSync, existsSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";

const bin = fileURLToPath(new URL("../../bin/assay.js", import.meta.url));
const sidecar = fileURLToPath(new URL("../../examples/tapes/refund.tape.annotations.jsonl", import.meta.url));

const recording = fileURLToPath(new URL("../../examples/tapes/refund.tape", import.meta.url));

// Not every platform has a device that is always full.
it.skipIf(!existsSync("/dev/full"))(
  "output that cannot be written is one line of complaint and exit code 1",
  () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [bin, "tape", "export", sidecar], {
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect(stderr).toBe("error: write standard output: ENOSPC: no space left on device, write\n");
    expect(status).toBe(1);
  },
  60_000,
);

it.skipIf(process.platform === "win32")(
  "an annotation that there is no room for leaves nothing beside its tape, so the next one need not wait",
  () => {
    const folder = tempDir();
    const tape = join(folder, "run.tape");
    copyFileSync(recording, tape);
    const call = [bin, "tape", "annotate", tape, "--event", "last", "--kind", "note"];
    const { status, stderr } = spawnSync("sh", ["-c", 'ulimit -f 0; exec "$@"', "sh", process.execPath, ...call], {
      encoding: "utf8",
    });
    expect(stderr).toMatch(/^error: write .*: EFBIG: /);
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual(["run.tape"]);
  },
  60_000,
);
