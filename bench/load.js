// @ts-check
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * Starts the load process. `ask` runs one of the functions of `jobs.js` there.
 */
export function startLoad() {
  const child = fork(fileURLToPath(new URL("./load-process.js", import.meta.url)), { execArgv: [] });
  process.on("exit", () => child.kill());
  return {
    /**
     * @template {keyof typeof import("./jobs.js")} N
     * @param {N} name
     * @param {Parameters<(typeof import("./jobs.js"))[N]>[0]} job
     * @returns {Promise<Awaited<ReturnType<(typeof import("./jobs.js"))[N]>>>}
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
