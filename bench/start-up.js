// @ts-check
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { residentMb } from "./machine.js";
import { median, spread } from "./statistics.js";

/**
 * @param {import("./sections.js").Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function startUp({ laboratory, pace }) {
  const bin = fileURLToPath(new URL("../bin/assay.js", import.meta.url));
  const times = Math.max(4, pace.rounds * 2);
  /** @type {Record<string, number[]>} */
  const data = { "node -e 0": [], "assay --version": [], "serve, SQLite": [], "serve, PostgreSQL": [] };
  /** @type {Record<string, number[]>} */
  const idle = { "serve, SQLite": [], "serve, PostgreSQL": [] };
  for (let i = 0; i < times; i++) {
    data["node -e 0"]?.push(timeOf(["-e", "0"]));
    data["assay --version"]?.push(timeOf([bin, "--version"]));
    for (const [name, open] of /** @type {const} */ ([
      ["serve, SQLite", () => laboratory.sqlite()],
      ["serve, PostgreSQL", () => laboratory.postgres()],
    ])) {
      const subject = await open();
      const [host] = subject.processes;
      data[name]?.push(host?.startMs ?? Number.NaN);
      if (i < 3) {
        await sleep(3000);
        idle[name]?.push(residentMb(host?.pid ?? 0));
      }
      await laboratory.stop(subject);
    }
  }
  const base = data["node -e 0"] ?? [];
  const rows = Object.entries(data).map(([name, ms]) => [
    name,
    spread(ms),
    (median(ms) / median(base)).toFixed(2),
    idle[name] === undefined ? "" : spread(idle[name]),
  ]);
  return {
    title: "Start",
    note: `Milliseconds until it has ended or, for serve with a new database, until it is ready; ${times} times in turns. Idle memory is resident, three seconds after that.`,
    table: [["", "ms", "ratio", "idle MB"], ...rows],
    data: { ms: data, idleMb: idle },
  };
}

/** @param {readonly string[]} args */
function timeOf(args) {
  const startedMs = performance.now();
  spawnSync(process.execPath, args, { stdio: "ignore" });
  return performance.now() - startedMs;
}
