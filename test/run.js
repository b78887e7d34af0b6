// @ts-check
// npm test: build, lint, types, then every test. With arguments (npm test -- src/store -t "an append"), the build and the
// tests they select. The last line is `N passed, N failed, N skipped`; a failed step counts as a failure.
// Temporary files are in memory where there is room, unless TMPDIR names another place.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseCLI, startVitest } from "vitest/node";
import { COMPILER_SAVINGS, ensureBuilt, trustBuild } from "../bin/build.js";
import { FolderTimes, formatSeconds } from "./folder-times.js";
import { makeMemoryFolder } from "./memory-folder.js";

const args = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
const times = new FolderTimes();
const startedAt = performance.now();
/** @type {string[]} */
const failedSteps = [];

process.chdir(root);
if (process.env["TMPDIR"] === undefined) {
  const folder = makeMemoryFolder();
  if (folder !== undefined) process.env["TMPDIR"] = folder;
}
if (args.length > 0) await step("build", build);
else {
  const linted = step("biome check", () => runTool("@biomejs/biome/bin/biome", ["check", ".", "--error-on-warnings"]));
  // The types of the console are those of the built client.
  await step("build", build);
  const { args: savings, env } = COMPILER_SAVINGS;
  await step("tsc --noEmit", () => runTool("typescript/bin/tsc", ["--noEmit", ...savings], env));
  await linted;
}

const { filter, options } = parseCLI(["vitest", "run", ...args]);
const vitest = await startVitest("test", filter, {
  // By itself Vitest leaves a core to others. One more than there are cores: workers wait for disks, databases and processes.
  maxWorkers: availableParallelism() + 1,
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
 * @param {() => boolean | Promise<boolean>} run
 */
async function step(name, run) {
  const begin = performance.now();
  const ok = await run();
  if (!ok) failedSteps.push(name);
  console.log(`${ok ? "✓" : "✗"} ${name}  ${formatSeconds(performance.now() - begin)}`);
}

function build() {
  const built = ensureBuilt();
  if (built) trustBuild();
  return built;
}

/**
 * @param {string} script in node_modules
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
async function runTool(script, args, env = {}) {
  const options = { stdio: /** @type {const} */ ("inherit"), env: { ...process.env, ...env } };
  const child = spawn(process.execPath, [`node_modules/${script}`, ...args], options);
  const [code] = await once(child, "close");
  return code === 0;
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
