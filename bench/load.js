// @ts-check
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * @typedef {typeof import("./jobs.js") & typeof import("./fan-out-jobs.js") & typeof import("./gate-jobs.js")
 *   & typeof import("./annotation-jobs.js")} Jobs
 */

/** Starts the load process. `ask` runs one of its jobs there. */
export function startLoad() {
  const child = fork(fileURLToPath(new URL("./load-process.js", import.meta.url)), { execArgv: [] });
  process.on("exit", () => child.kill());
  return {
    /**
     * @template {keyof Jobs} N
     * @param {N} name
     * @param {Parameters<Jobs[N]>[0]} job
     * @returns {Promise<Awaited<ReturnType<Jobs[N]>>>}
     */
    async ask(name, job) {
      child.send({ name, job });
      const [{ result, error }] = await once(child, "message");
      if (error !== undefined) throw new Error(`${name}: ${error}`);
      return result;
    },
    stop: () => child.disconnect(),
  };
}
