// @ts-check
// Evaluations with a cold command line, kept in a database. promptfoo is measured beside it where it is installed:
// ASSAY_BENCH_PROMPTFOO=/path/to/node_modules/promptfoo/dist/src/entrypoint.js npm run bench -- --only eval
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGENT, writeEvalFiles } from "./eval-files.js";
import { median, ratios, spread } from "./statistics.js";

const BIN = fileURLToPath(new URL("../bin/assay.js", import.meta.url));
const COUNTS = [200, 5000];
const WALL_BAR_MS = 1000;

/**
 * @typedef {{ ms: number[], cpuMs: number[], peakMb: number[] }} Taken
 *
 * @param {import("./sections.js").Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function evaluating({ laboratory, pace }) {
  const promptfoo = process.env["ASSAY_BENCH_PROMPTFOO"];
  const subjects = ["assay", ...(promptfoo === undefined ? [] : ["promptfoo"])];
  /** @type {Record<string, Taken>} */
  const data = {};
  for (const count of COUNTS) writeEvalFiles(join(laboratory.folder, `eval-${count}`), count);
  // Once for nothing: the files of the program come from the disk, and a checkout may have to be built.
  const first = join(laboratory.folder, `eval-${COUNTS[0]}`);
  runOnce(first, assayArgs(first));
  for (let round = 0; round < pace.rounds; round++) {
    for (const count of COUNTS) {
      for (let i = 0; i < subjects.length; i++) {
        const subject = /** @type {string} */ (subjects[(i + round) % subjects.length]);
        // Minutes each: two rounds tell enough.
        if (subject === "promptfoo" && count > 1000 && round >= 2) continue;
        const folder = join(laboratory.folder, `eval-${count}`);
        const taken = runOnce(folder, subject === "assay" ? assayArgs(folder) : promptfooArgs(folder, promptfoo ?? ""));
        const into = data[`${subject} ${count}`] ?? { ms: [], cpuMs: [], peakMb: [] };
        data[`${subject} ${count}`] = into;
        into.ms.push(taken.ms);
        into.cpuMs.push(taken.cpuMs);
        into.peakMb.push(taken.peakMb);
      }
    }
  }
  const [small, large] = /** @type {[Taken, Taken]} */ (COUNTS.map((count) => data[`assay ${count}`]));
  const [few = 0, many = 0] = COUNTS;
  const perTask = (median(large.cpuMs) - median(small.cpuMs)) / (many - few);
  const grown = (median(large.peakMb) - median(small.peakMb)) / ((many - few) / 1000);
  const quickest = Math.min(...small.ms);
  const rows = Object.entries(data).map(([name, taken]) => {
    const count = name.split(" ")[1];
    const own = /** @type {Taken} */ (data[`assay ${count}`]);
    return [
      name,
      spread(taken.ms),
      spread(ratios(taken.ms, own.ms.slice(0, taken.ms.length)), 2),
      spread(taken.cpuMs),
      spread(taken.peakMb),
    ];
  });
  return {
    title: "Evaluate golden tasks, cold, kept in a database",
    note:
      `A process for each evaluation, from start to exit, with an agent that answers from memory. Each further task takes ${perTask.toFixed(2)} ms ` +
      `of processor time, and each thousand ${grown.toFixed(0)} MB.${promptfoo === undefined ? " promptfoo is not named (ASSAY_BENCH_PROMPTFOO), so it is not beside it." : ""}`,
    table: [["tasks", "ms", "assay = 1", "CPU ms", "peak MB"], ...rows],
    data: { perTaskCpuMs: perTask, growthMbPerThousand: grown, ...data },
    problems:
      // The bar is for a quiet machine, and the quickest round was on the quietest.
      quickest > WALL_BAR_MS ? [`${few} tasks take ${quickest.toFixed(0)} ms at least; 1,000 is wanted`] : [],
  };
}

/** @param {string} folder */
function assayArgs(folder) {
  const files = ["--agents", join(folder, "agents.json"), "--data", mkdtempSync(join(folder, "data-"))];
  return [BIN, "eval", "run", join(folder, "suite.json"), "--agent", AGENT, ...files];
}

/**
 * @param {string} folder
 * @param {string} main
 */
function promptfooArgs(folder, main) {
  return [main, "eval", "--no-cache", "--no-table", "--no-progress-bar", "-c", join(folder, "promptfoo.json")];
}

/** Written by each process of the subject when it ends, since some start others. */
const TELL = `import { writeFileSync } from "node:fs";
process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const file = process.env.BENCH_USAGE + "/" + process.pid;
  writeFileSync(file, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 }));
});`;

/**
 * @param {string} folder
 * @param {readonly string[]} args
 */
function runOnce(folder, args) {
  const usage = mkdtempSync(join(folder, "usage-"));
  const env = {
    ...process.env,
    ASSAY_URL: "",
    BENCH_USAGE: usage,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TELL)}`,
    PROMPTFOO_CONFIG_DIR: mkdtempSync(join(folder, "promptfoo-")),
    PROMPTFOO_DISABLE_TELEMETRY: "1",
    PROMPTFOO_DISABLE_UPDATE: "1",
  };
  const startedMs = performance.now();
  const ended = spawnSync(process.execPath, args, { env, encoding: "utf8", maxBuffer: 1 << 28 });
  const ms = performance.now() - startedMs;
  if (ended.status !== 0) throw new Error(`${args.join(" ")} ended with ${ended.status}: ${ended.stderr}`);
  const used = readdirSync(usage).map((name) => JSON.parse(readFileSync(join(usage, name), "utf8")));
  rmSync(usage, { recursive: true });
  return {
    ms,
    cpuMs: used.reduce((sum, one) => sum + one.cpuMs, 0),
    peakMb: Math.max(0, ...used.map((one) => one.peakMb)),
  };
}
