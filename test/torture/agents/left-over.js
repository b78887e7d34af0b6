// @ts-check
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Asked to end, and ended two seconds after that. */
const endedAfterMs = 10_000;

/**
 * Programs of agents that go on although no server is left that started them. Nobody knows where the system does not tell.
 * @param {string} traces which all of them have among their arguments
 */
export async function leftOver(traces) {
  const endMs = Date.now() + endedAfterMs;
  for (;;) {
    const left = commandLines().filter((line) => line.includes(traces) && !line.includes("serve"));
    if (left.length === 0 || Date.now() > endMs) return left;
    await sleep(50);
  }
}

function commandLines() {
  /** @type {string[]} */
  const lines = [];
  for (const pid of processes()) {
    try {
      lines.push(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {
      // It has ended.
    }
  }
  return lines;
}

function processes() {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
