// @ts-check
// npm test: build, lint, types, then every test. With arguments (npm test -- src/store -t "an append"), the build and the
// tests they select. The last line is `N passed, N failed, N skipped`; a failed step counts as a failure.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseCLI, startVitest } from "vitest/node";
import { ensureBuilt } from "../bin/build.js";
import { FolderTimes, formatSeconds } from "./folder-times.js";

const args = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
const times = new FolderTimes();
const startedAt = performance.now();
/** @type {string[]} */
const failedSteps = [];

process.chdir(root);
step("build", () => ensureBuilt());
if (args.length === 0) {
  step("biome check", () => runTool("@biomejs/biome/bin/biome", "check", ".", "--error-on-warnings"));
  step("tsc --noEmit", () => runTool("typescript/bin/tsc", "--noEmit"));
}

const { filter, options } = parseCLI(["vitest", "run", ...args]);
const vitest = await startVitest("test", filter, {
  // By itself Vitest leaves a core to others, which on two cores is half of the machine.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  ...options,
  run: true,
  watch: false,
  reporters: ["default", times],
});
await vitest.close();
report();
// Not left to the event loop: a handle that a test forgot must not keep a finished run alive.
process.exit(process.exitCode);

/**
 * @param {string} name
 * @param {() => boolean} run
 */
function step(name, run) {
  const begin = performance.now();
  const ok = run();
  if (!ok) failedSteps.push(name);
  console.log(`${ok ? "✓" : "✗"} ${name}  ${formatSeconds(performance.now() - begin)}`);
}

/** @param {string[]} command a script in node_modules and its arguments */
function runTool(...command) {
  const [script, ...rest] = command;
  return spawnSync(process.execPath, [`node_modules/${script}`, ...rest], { stdio: "inherit" }).status === 0;
}

function report() {
  const failed = times.failed + failedSteps.length;
  const nothingRan = times.passed + times.failed === 0;
  if (times.durations.size > 0) console.log(`\nTime by folder\n${times.table()}`);
  console.log(`Total ${formatSeconds(performance.now() - startedAt)}`);
  if (failedSteps.length > 0) console.log(`Failed before the tests: ${failedSteps.join(", ")}`);
  if (nothingRan) console.log("No test ran.");
  console.log(`${times.passed} passed, ${failed} failed, ${times.skipped} skipped`);
  if (failed > 0 || nothingRan) process.exitCode = 1;
}
