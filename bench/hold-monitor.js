// @ts-check
// Loaded into a host by bench/hold.js: on SIGUSR2 it writes the longest hold of the event loop since the last signal, in milliseconds.
import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const file = process.env["HOLD_FILE"];
if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  process.on("SIGUSR2", () => {
    appendFileSync(file, `${(delay.max / 1e6).toFixed(0)}\n`);
    delay.reset();
  });
}
