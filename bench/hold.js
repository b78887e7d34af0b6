// @ts-check
// node bench/hold.js [--checkout FOLDER] [--rounds N] [--only TEXT] [--profile FOLDER]
// Longest hold of a host's event loop by one large request of each kind, on SQLite, quiet otherwise. Each request is made N times. Printed is the
// longest hold of all in time of the processor, then the smallest and the largest of the N longest holds on the clock, which other work on the
// machine makes longer.
// --checkout measures the build of another working tree, to compare two commits.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startAssay } from "../test/assay-process.js";
import { AGENT_ID, installAgent, MB, review, tape, tapeOfLongTexts } from "./hold-files.js";
import { seedJudgments } from "./seed-judgments.js";

const { values: options } = parseArgs({
  options: {
    checkout: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    profile: { type: "string" },
  },
});
const KEY = "key-of-the-owner-of-the-bench";
const EXPORT_JUDGMENTS = 235_000;
const rounds = Number(options.rounds);
const folder = mkdtempSync(join(tmpdir(), "assay-hold-"));
const data = join(folder, "data");
const holds = join(folder, "holds");
mkdirSync(data);
writeFileSync(holds, "");
writeFileSync(
  join(folder, "keys.json"),
  JSON.stringify([{ key: KEY, tenant: "t1", principal: "p", roles: ["owner"] }]),
);
process.env["HOLD_FILE"] = holds;
const { packs, agents } = installAgent(folder);
const isAsked = (/** @type {string} */ name) => name.includes(options.only);
if (isAsked("export of judgments")) await seedJudgments({ data }, { runs: 1000, judgments: EXPORT_JUDGMENTS });
const profiling =
  options.profile === undefined
    ? []
    : ["--cpu-prof", "--cpu-prof-interval", "500", "--cpu-prof-dir", resolve(options.profile)];
const server = await startAssay({
  program: join(resolve(options.checkout), "bin", "assay.js"),
  args: [
    ...["serve", "--json", "--port", "0", "--keys", join(folder, "keys.json"), "--data", data],
    ...["--packs", packs, "--agents", agents, "--allow-unsigned"],
  ],
  logFile: join(folder, "log"),
  nodeArgs: [...profiling, "--import", fileURLToPath(new URL("./hold-monitor.js", import.meta.url))],
});

/**
 * @param {string} method
 * @param {string} path
 * @param {string} [body]
 */
async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${response.status} ${text.slice(0, 300)}`);
  return text;
}

async function longestHold() {
  const before = readFileSync(holds, "utf8").length;
  process.kill(server.pid, "SIGUSR2");
  while (readFileSync(holds, "utf8").length === before) await sleep(10);
  const [thread = 0, clock = 0] = readFileSync(holds, "utf8").slice(before).split(" ").map(Number);
  return { thread, clock };
}

/**
 * @param {string} name
 * @param {(round: number) => Promise<string>} work resolves with a text of the size that the row names
 */
async function measure(name, work) {
  if (!isAsked(name)) return;
  const longest = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    await sleep(300);
    await longestHold();
    bytes = (await work(round)).length;
    longest.push(await longestHold());
  }
  const clock = longest.map((one) => one.clock);
  const figures = [Math.max(...longest.map((one) => one.thread)), Math.min(...clock), Math.max(...clock)];
  const columns = figures.map((ms) => `${ms} ms`.padStart(10)).join("");
  console.log(`${name.padEnd(32)} ${(bytes / MB).toFixed(1).padStart(6)} MB${columns}`);
}

/** @param {string} text */
const importTape = async (text) =>
  JSON.parse(await ask("POST", "/v1/host/assay/tapes", JSON.stringify({ tape: text })));

/** @param {string} workflowId */
async function runToEnd(workflowId) {
  const { runId } = JSON.parse(await ask("POST", "/v1/runs", JSON.stringify({ workflowId })));
  for (;;) {
    const text = await ask("GET", `/v1/runs/${runId}`);
    const { status, error } = JSON.parse(text);
    if (status === "completed") return text;
    if (status === "failed") throw new Error(JSON.stringify(error).slice(0, 300));
    await sleep(100);
  }
}

/** @param {string} kind */
async function registerAgentWorkflow(kind) {
  const inputs = { task: { type: "static", value: kind } };
  const node = {
    id: "ask",
    name: "ask",
    position: { x: 0, y: 0 },
    typeId: "assay.agent",
    agent: { agentId: AGENT_ID },
  };
  const definition = {
    ...{ id: `ask-${kind}`, name: kind, version: "1", edges: [], variables: [], metadata: {}, settings: {} },
    nodes: [{ ...node, config: {}, inputs }],
    triggers: [{ id: "manual", type: "manual", enabled: true }],
  };
  await ask("POST", "/v1/workflows", JSON.stringify(definition));
}

try {
  console.log(`${"longest hold of the event loop".padEnd(42)} processor  smallest   largest`);
  await measure("import of a tape", async (round) => {
    const text = tape(8 * MB, round);
    await importTape(text);
    return text;
  });
  await measure("import of a tape of long texts", async (round) => {
    const text = tapeOfLongTexts(8 * MB, round);
    await importTape(text);
    return text;
  });
  const { runId } = await importTape(tape(8 * MB, 0));
  await measure("the tape of that run", () => ask("GET", `/v1/host/assay/tapes/${runId}/tape`));
  await measure("its events, one poll", () => ask("GET", `/v1/runs/${runId}/events/poll?timeout=1`));
  await measure("its debug bundle", () => ask("GET", `/v1/runs/${runId}/debug-bundle`));
  for (const kind of ["text", "lines", "json"]) {
    await measure(`a review of ${kind}`, async (round) => {
      const text = review(kind, 15.5 * MB, round);
      await ask("POST", "/v1/host/assay/afp/run", text);
      return text;
    });
  }
  for (const kind of ["text", "json"]) {
    if (!isAsked(`an agent's answer of ${kind}`)) continue;
    await registerAgentWorkflow(kind);
    await measure(`an agent's answer of ${kind}`, () => runToEnd(`ask-${kind}`));
  }
  await measure("export of judgments", () => ask("GET", "/v1/host/assay/annotations:export"));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
