// @ts-check
import { spawnSync } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { join } from "node:path";

export function describeMachine() {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return `${cpus().length} × ${cpu?.model.trim() ?? "?"}, ${memory}, ${platform()} ${release()} ${arch()}, Node ${process.version}`;
}

/**
 * How long the disk takes to make one small write durable, now. It drifts, so it is measured beside everything else.
 * @param {string} folder
 */
export function syncMs(folder, times = 40) {
  const file = openSync(join(folder, "fsync"), "a");
  const page = Buffer.alloc(4096);
  const took = [];
  for (let i = 0; i < times; i++) {
    const startedMs = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    took.push(performance.now() - startedMs);
  }
  closeSync(file);
  return took;
}

/** @param {number} pid */
export function residentMb(pid) {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(stdout) / 1024;
}

/**
 * Processor time that processes have used so far, in milliseconds.
 * @param {readonly number[]} pids
 */
export function cpuOf(pids) {
  return pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
}

/**
 * Where the system tells (Linux).
 * @param {number} pid
 */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    // utime and stime, in ticks of a hundredth of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
