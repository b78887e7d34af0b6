// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * Starts a throw-away PostgreSQL on a random loopback port. It ends with `stop`, or by itself when this process ends
 * in whatever way. For tests, benchmarks and trials.
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} `url` is the superuser's
 */
export async function startPostgres() {
  const script = fileURLToPath(new URL("./postgres-server.js", import.meta.url));
  // Detached: ctrl-c goes to every process of a terminal's group, and this one has to outlive us by a moment.
  const child = spawn(process.execPath, [script], { detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close");
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaint += text;
  });

  const url = await Promise.race([
    once(createInterface({ input: child.stdout }), "line").then(([line]) => String(line)),
    closed.then(() => undefined),
  ]);
  if (!url) throw new Error(`The PostgreSQL for tests did not start. ${complaint.trim()}`);

  return {
    url,
    stop: async () => {
      child.stdin.end();
      await closed;
    },
  };
}
