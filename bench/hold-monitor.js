// @ts-check
// Loaded into a host by bench/hold.js: on SIGUSR2 it appends the longest hold of the event loop since the last signal to a file, in milliseconds.
// A hold is the time between two firings of a timer of 5 ms. It is given twice: as time on the clock, which counts other work on the machine,
// and as time of the processor in this thread, which does not; the second only on Linux.
import { appendFileSync, readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env["HOLD_FILE"];
const EVERY_MS = 5;

function threadMs() {
  try {
    const [ns] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
    return Number(ns) / 1e6;
  } catch {
    return performance.now();
  }
}

if (isMainThread && file !== undefined) {
  let at = { clock: performance.now(), thread: threadMs() };
  let longest = { clock: 0, thread: 0 };
  const timer = setInterval(() => {
    const now = { clock: performance.now(), thread: threadMs() };
    longest = {
      clock: Math.max(longest.clock, now.clock - at.clock - EVERY_MS),
      thread: Math.max(longest.thread, now.thread - at.thread),
    };
    at = now;
  }, EVERY_MS);
  timer.unref();
  process.on("SIGUSR2", () => {
    appendFileSync(file, `${longest.thread.toFixed(0)} ${longest.clock.toFixed(0)}\n`);
    longest = { clock: 0, thread: 0 };
  });
}
