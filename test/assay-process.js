// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../bin/assay.js", import.meta.url));
const readyTimeoutMs = 30_000;

/**
 * A running `assay serve` (or another program that prints such a ready line).
 * @typedef {object} AssayProcess
 * @property {string} url
 * @property {number} pid
 * @property {number} startMs how long it took until it was ready
 * @property {() => boolean} isAlive
 * @property {() => Promise<void>} kill SIGKILL: asks nothing, saves nothing. Resolves when the process is gone
 * @property {() => Promise<number | null>} stop SIGTERM. Resolves with the exit code
 * @property {() => void} freeze SIGSTOP: it does not notice that time goes on
 * @property {() => void} thaw
 */

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/**
 * Starts the real program in a process of its own and waits for its ready line. Its stderr goes to `logFile`.
 * @param {object} options
 * @param {readonly string[]} options.args what follows `assay serve`
 * @param {string} options.logFile
 * @param {string} [options.program] a script to run in place of `bin/assay.js serve`
 * @param {readonly string[]} [options.nodeArgs]
 * @param {AbortSignal} [options.killEarly] kills the process before it is ready, if it comes to that
 * @returns {Promise<AssayProcess>}
 */
export async function startAssay({ args, logFile, program, nodeArgs = [], killEarly }) {
  const log = openSync(logFile, "a");
  const command = program === undefined ? [bin, "serve", "--json"] : [program];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, ...command, ...args], {
    stdio: ["ignore", "pipe", log],
    // Where no config file is, and without settings of whoever started us.
    cwd: dirname(logFile),
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ASSAY_"))),
  });
  closeSync(log);
  children.add(child);
  const gone = once(child, "exit").then(([code]) => {
    children.delete(child);
    return /** @type {number | null} */ (code);
  });
  const die = () => child.kill("SIGKILL");
  killEarly?.addEventListener("abort", die);
  const timer = setTimeout(die, readyTimeoutMs);

  const lines = createInterface({ input: /** @type {import("node:stream").Readable} */ (child.stdout) });
  const line = await Promise.race([once(lines, "line").then(([text]) => String(text)), gone.then(() => undefined)]);
  clearTimeout(timer);
  killEarly?.removeEventListener("abort", die);
  if (line === undefined || killEarly?.aborted) {
    await gone;
    if (killEarly?.aborted) throw new KilledEarly();
    throw new Error(`The server did not start. ${readFileSync(logFile, "utf8").slice(-2000)}`);
  }
  const startMs = performance.now() - startedMs;
  return {
    url: /** @type {{ url: string }} */ (JSON.parse(line)).url.replace(/\/$/, ""),
    pid: child.pid ?? 0,
    startMs,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    kill: async () => {
      child.kill("SIGKILL");
      await gone;
    },
    stop: () => {
      child.kill("SIGTERM");
      return gone;
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
  };
}

/** The process was killed on purpose before it was ready. */
export class KilledEarly extends Error {}
