// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * Starts a throw-away PostgreSQL on a random loopback port. It ends with `stop`, or by itself when this process ends
 * in whatever way. For tests, benchmarks and trials. `url` is the superuser's; `kill` crashes the server and `restart`
 * brings it back with the same data at the same address.
 * @typedef {{ url: string, stop(): Promise<void>, kill(): Promise<void>, restart(): Promise<void> }} TestPostgres
 * @param {{ sync?: boolean }} [options] `sync: false` for tests: faster, and no test ends the machine
 * @returns {Promise<TestPostgres>}
 */
export async function startPostgres({ sync = true } = {}) {
  const script = fileURLToPath(new URL("./postgres-server.js", import.meta.url));
  // Detached: ctrl-c goes to every process of a terminal's group, and this one has to outlive us by a moment.
  const child = spawn(process.execPath, sync ? [script] : [script, "--no-sync"], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaint += text;
  });

  const lines = createInterface({ input: child.stdout });
  const line = () => Promise.race([once(lines, "line").then(([text]) => String(text)), closed.then(() => undefined)]);
  const url = await line();
  if (!url) throw new Error(`The PostgreSQL for tests did not start. ${complaint.trim()}`);

  /** @param {"kill" | "start"} what */
  const order = async (what) => {
    child.stdin.write(`${what}\n`);
    if ((await line()) !== what) throw new Error(`The PostgreSQL for tests is gone. ${complaint.trim()}`);
  };
  return {
    url,
    kill: () => order("kill"),
    restart: () => order("start"),
    stop: async () => {
      child.stdin.end();
      await closed;
    },
  };
}
