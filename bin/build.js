#!/usr/bin/env node
// @ts-check
// Builds `dist` from a checkout when it is out of date: node bin/build.js [--force]
//
// Several processes may call this at once: one compiles, the others wait for it. The compiler writes into a separate
// directory, and the result is renamed into `dist` file by file, so that a process that imports from `dist` meanwhile
// finds every module, and a failed build leaves the old one untouched.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const stampFile = join(dist, ".built");
const lock = join(root, "dist-lock.tmp");
// Next to `dist` and not inside it, so that the relative paths in the source maps are right after the rename.
const out = join(root, `dist-${process.pid}.tmp`);

const lockAgeMaxMs = 120_000;
const lockPollMs = 50;
const supersededMs = 500;

/**
 * What makes the compiler take half the processor time and less memory: two checkers in place of four, which look at the same types each, and
 * fewer collections of garbage.
 */
export const COMPILER_SAVINGS = { args: ["--checkers", "2"], env: { GOGC: "400" } };

/**
 * The variable that names the checkout whose `dist` is used as it is. A test run sets it after its build: to compare all sources is a third of
 * the time of a short command. No setting of Assay, so it does not begin with ASSAY_.
 */
const TRUSTED = "BUILT_ASSAY";

/** Has the processes that this one starts use `dist` as it is. */
export function trustBuild() {
  process.env[TRUSTED] = root;
}

/**
 * Builds `dist` when it is out of date and returns whether it can be used. A build, which takes seconds, prints one line on standard error;
 * standard output is for the command. Does nothing in an installed package, which has no sources.
 */
export function ensureBuilt({ force = false } = {}) {
  if (!fs.existsSync(join(root, "src"))) return true;
  if (!force && process.env[TRUSTED] === root) return true;
  if (!force && isFresh()) return true;

  try {
    takeLock();
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(String(errorCode(error)))) throw error;
    return withoutBuild("this user may not write here", "run npm ci as the user who owns the checkout");
  }
  try {
    // The process that held the lock has probably built it.
    return (!force && isFresh()) || build();
  } finally {
    fs.rmSync(out, { recursive: true, force: true });
    fs.rmSync(lock, { recursive: true, force: true });
  }
}

function isFresh() {
  try {
    return fs.readFileSync(stampFile, "utf8") === listInputs();
  } catch {
    return false;
  }
}

/**
 * Every file that the build depends on with its time and size, one per line. The stamp is this list from the start of the build, so that a
 * deleted file, an older file that git restored and a file that was saved during the build count as changes.
 */
function listInputs() {
  const files = fs.readdirSync(root).filter((name) => /^(tsconfig.*|package-lock)\.json$/.test(name));
  files.push("bin/bundle.js");
  for (const folder of ["src", "console", "sdk"]) files.push(...walk(folder, isInput));
  return files
    .sort()
    .map((file) => {
      const { mtimeMs, size } = fs.statSync(join(root, file));
      return `${file} ${mtimeMs} ${size}\n`;
    })
    .join("");
}

/** @param {string} path */
function isInput(path) {
  return !path.endsWith(".test.ts") && path !== "src/testing" && !/(^|\/)(node_modules|dist)$/.test(path);
}

/**
 * @param {string} folder relative to the root
 * @param {(path: string) => boolean} keep
 * @returns {string[]} the files below it, relative to the root
 */
function walk(folder, keep = () => true) {
  const found = [];
  for (const entry of readFolder(join(root, folder))) {
    const path = `${folder}/${entry.name}`;
    if (!keep(path)) continue;
    if (entry.isDirectory()) found.push(...walk(path, keep));
    else found.push(path);
  }
  return found;
}

/** @param {string} path */
function readFolder(path) {
  return fs.existsSync(path) ? fs.readdirSync(path, { withFileTypes: true }) : [];
}

/**
 * Waits for the lock, a directory with the process id of its owner. A lock whose owner is dead, or that is too old, is taken over. Two
 * processes may take it over at the same moment and both build: each compiles into its own directory, so that only costs time.
 */
function takeLock() {
  for (let waits = 0; ; waits++) {
    try {
      fs.mkdirSync(lock);
      fs.writeFileSync(join(lock, "pid"), String(process.pid));
      return;
    } catch (error) {
      if (errorCode(error) !== "EEXIST" && errorCode(error) !== "ENOENT") throw error;
    }
    if (waits === 0) process.stderr.write("assay: waiting for another process that is building…\n");
    if (lockIsStale()) fs.rmSync(lock, { recursive: true, force: true });
    else sleep(lockPollMs);
  }
}

/** @param {number} ms */
function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function lockIsStale() {
  try {
    if (Date.now() - fs.statSync(lock).mtimeMs > lockAgeMaxMs) return true;
    return !isAlive(Number(fs.readFileSync(join(lock, "pid"), "utf8")));
  } catch {
    // Released, or taken just now and without its process id yet.
    return false;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  if (!pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

function build() {
  removeAbandonedOutput();
  const inputs = listInputs();
  fs.mkdirSync(out, { recursive: true });

  if (walk("src", isInput).some((file) => file.endsWith(".ts"))) {
    const tsc = findCompiler();
    if (!tsc || !isInstalled("rolldown")) {
      return withoutBuild("the packages that build it are not installed", "run npm ci with development dependencies");
    }
    process.stderr.write("assay: building, this takes a few seconds…\n");
    const pretty = String(!!process.stderr.isTTY);
    const options = ["-p", "tsconfig.build.json", "--outDir", out, "--pretty", pretty, ...COMPILER_SAVINGS.args];
    if (!runNode([tsc, ...options], COMPILER_SAVINGS.env)) return false;
    if (!runNode([join(root, "bin", "bundle.js"), out])) return false;
    if (fs.existsSync(join(root, "src", "sdk")) && !runNode([join(root, "sdk", "build.js"), out])) return false;
  }

  const pages = join(root, "console", "public");
  if (fs.existsSync(pages)) fs.cpSync(pages, join(out, "console"), { recursive: true });

  replaceDist();
  fs.writeFileSync(join(out, ".built"), inputs);
  fs.renameSync(join(out, ".built"), stampFile);
  return true;
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} [more] variables of the environment
 */
function runNode(args, more = {}) {
  const env = { ...process.env, ...more };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", env });
  if (status === 0) return true;
  process.stderr.write(`${stdout}${stderr}assay: the build failed; dist is unchanged\n`);
  return false;
}

/** Removes the directories of killed builds. */
function removeAbandonedOutput() {
  for (const name of fs.readdirSync(root)) {
    const pid = Number(/^dist-(\d+)\.tmp$/.exec(name)?.[1]);
    if (!pid || (pid !== process.pid && isAlive(pid))) continue;
    try {
      fs.rmSync(join(root, name), { recursive: true, force: true });
    } catch (error) {
      // The compiler of a killed build may still be writing; the next build removes its files.
      if (pid === process.pid) throw error;
    }
  }
}

function findCompiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
    return join(dirname(manifest), "bin", "tsc");
  } catch {
    return undefined;
  }
}

/** @param {string} name */
function isInstalled(name) {
  return fs.existsSync(join(root, "node_modules", name, "package.json"));
}

/**
 * Uses an existing `dist` where it cannot be built: after a build, development dependencies may be pruned, or another user may run it.
 * @param {string} reason
 * @param {string} remedy
 */
function withoutBuild(reason, remedy) {
  const built = fs.existsSync(stampFile);
  process.stderr.write(
    built
      ? `assay: dist is older than the sources, but ${reason}; using dist as it is\n`
      : `assay: dist is not built, and ${reason}; ${remedy}\n`,
  );
  return built;
}

function replaceDist() {
  const built = walk(relative(root, out)).map((path) => path.slice(path.indexOf("/") + 1));
  for (const file of built) {
    fs.mkdirSync(dirname(join(dist, file)), { recursive: true });
    fs.renameSync(join(out, file), join(dist, file));
  }
  const kept = new Set([...built, ".built"]);
  const superseded = walk("dist").filter((path) => !kept.has(path.slice("dist/".length)));
  // A command that has just started may have read the main file of the old bundle, but not its other files.
  if (superseded.length > 0) sleep(supersededMs);
  for (const path of superseded) fs.rmSync(join(root, path), { force: true });
}

/** @param {unknown} error */
function errorCode(error) {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = ensureBuilt({ force: process.argv.includes("--force") }) ? 0 : 1;
}
