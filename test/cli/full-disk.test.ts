import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const bin = fileURLToPath(new URL("../../bin/assay.js", import.meta.url));
const sidecar = fileURLToPath(new URL("../../examples/tapes/refund.tape.annotations.jsonl", import.meta.url));

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
