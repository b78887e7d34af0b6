// @ts-check
import { execFile } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "bin", "assay.js");
const examples = join(root, "examples");
const AGENT = "local.acme.support.refunds";
const SUITE = "local.acme.evals.refunds@1.0.0";

/** API keys of a filled database. They open nothing but the fixture. */
export const KEYS = [
  { key: "old-data-owner-key-1", tenant: "default", principal: "olga", kind: "user", roles: ["owner"], scopes: ["*"] },
  {
    key: "old-data-vera-key-1",
    tenant: "default",
    principal: "vera",
    kind: "user",
    roles: ["reviewer"],
    scopes: ["*"],
  },
  {
    key: "old-data-otto-key-1",
    tenant: "default",
    principal: "otto",
    kind: "user",
    roles: ["reviewer"],
    scopes: ["*"],
  },
  {
    key: "old-data-bot-key-01",
    tenant: "default",
    principal: "bot",
    kind: "agent",
    roles: ["reviewer"],
    scopes: ["*"],
  },
  { key: "old-data-other-key-1", tenant: "elsewhere", principal: "eve", kind: "user", roles: ["owner"], scopes: ["*"] },
];
const [OWNER, VERA, OTTO, BOT, OTHER] = KEYS.map(({ key }) => key);

/** What `assay serve` is started with, while a database is filled and when it is opened again. */
export const SERVE = [
  ...["--port", "0", "--log-level", "warn", "--allow-unsigned"],
  ...["--workflows", join(examples, "workflows"), "--packs", join(examples, "agents", "packs")],
  ...["--agents", join(examples, "agents", "agents.json"), "--suites", join(examples, "evals")],
];

/**
 * Makes one of everything that version 0.1.0 keeps, and gives the ids of what a test looks at.
 * @param {string} url
 * @param {string} folder for files
 */
export async function fill(url, folder) {
  /** @param {string} key @param {string[]} args */
  const assay = async (key, ...args) => {
    const env = { PATH: process.env["PATH"], HOME: folder, ASSAY_URL: url, ASSAY_KEY: key };
    try {
      return (await run(process.execPath, [bin, ...args], { cwd: folder, env, maxBuffer: 1 << 26 })).stdout.trim();
    } catch (error) {
      throw new Error(`assay ${args.join(" ")}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const owner = assay.bind(null, String(OWNER));

  const hello = await owner("run", "start", "hello", "--input", "name=Ada", "--watch", "--json").then(firstRun);
  const greeted = await owner("run", "start", "hello", "--input", "name=", "--tag", "nightly");
  await owner("run", "watch", greeted);
  const triaged = await owner("run", "start", "triage", "--input", "score=2");
  await owner("run", "watch", triaged);
  const sleeping = await owner("run", "start", "slow", "--input", "delayMs=1000");
  const cancelled = await owner("run", "start", "slow", "--input", "delayMs=600000");
  await owner("run", "cancel", cancelled);
  const branch = await owner("run", "fork", triaged, "--mode", "branch", "--from-seq", "1");
  const replay = await owner("run", "fork", triaged);
  const foreign = await assay(String(OTHER), "run", "start", "hello", "--input", "name=Eve");
  await assay(String(OTHER), "run", "watch", foreign);

  const approved = await owner("run", "start", "release-gate");
  for (const key of [VERA, OTTO]) await assay(String(key), "resolve", approved, "approve", "granted");
  await owner("run", "watch", approved);
  const halfApproved = await owner("run", "start", "release-gate");
  await assay(String(VERA), "resolve", halfApproved, "approve", "granted");
  const waiting = await owner("run", "start", "release-gate");

  await assay(String(VERA), "annotate", hello, "--rating", "5", "--note", "right");
  const first = await assay(String(OTTO), "annotate", hello, "--rating", "1", "--json").then(annotationId);
  await assay(String(OTTO), "annotate", hello, "--rating", "4", "--supersedes", first);
  const withdrawn = await assay(String(VERA), "annotate", greeted, "--label", "rude", "--json").then(annotationId);
  await assay(String(VERA), "annotate", "--retract", withdrawn, "--reason", "the wrong run");
  await assay(String(VERA), "annotate", greeted, "--correction", "Hello!", "--note", "the name is missing");
  await assay(String(OTTO), "annotate", greeted, "--flag");
  await assay(String(BOT), "annotate", triaged, "--rating", "3", "--confidence", "0.6");

  await owner("queue", "create", "weekly", "--reviewers", "2", "--max-spread", "1");
  await owner("queue", "add", "weekly", hello, greeted, triaged);
  for (const [key, value] of [
    [VERA, "4"],
    [OTTO, "1"],
  ]) {
    const next = JSON.parse(await assay(String(key), "queue", "next", "weekly", "--json"));
    await assay(String(key), "queue", "judge", "weekly", next.item.itemId, String(value));
  }

  const tape = join(folder, "refund.tape");
  cpSync(join(examples, "tapes"), folder, { recursive: true });
  const taped = (await owner("tape", "import", tape)).split("\n")[0] ?? "";
  await owner("tape", "push", tape);

  writeFileSync(join(folder, "notes.md"), "# Notes\n\nOwner: TBD\n\n1. Copy the data. TODO: say how long it takes.\n");
  await owner("review", "start", "notes.md", "--url", url);
  const session = (await get(url, "/v1/host/assay/reviews", OWNER)).reviews[0].sessionId;

  await owner("eval", "run", SUITE, "--agent", AGENT, "--url", url);
  const evaluated = await latestEval(url);
  await owner("eval", "baseline", "set", "main", evaluated, "--url", url);
  await owner("eval", "run", SUITE, "--agent", AGENT, "--url", url, "--baseline", "main", "--trials", "2");
  const compared = await latestEval(url);
  const tasks = await get(url, `/v1/host/assay/evals/${evaluated}/report`, OWNER);
  const task = tasks.tasks[0].taskId;
  await assay(String(VERA), "eval", "override", evaluated, task, "fail", "--note", "not what was asked", "--url", url);
  await owner("policy", "set", AGENT, join(examples, "agents", "promotion.json"));
  await owner("agent", "deploy", AGENT, "1.0.0", "--to", "test");

  await owner("role", "set", "auditor", "--scopes", "runs:read");
  await owner("principal", "set", "vera", "--group", "support");
  await owner("webhook", "create", "https://hooks.example.com/assay", "--event", "run.completed");
  await owner("audit", "verify");

  return {
    ...{ hello, greeted, triaged, sleeping, cancelled, branch, replay, foreign, approved, halfApproved, waiting },
    ...{ taped, session, evaluated, compared, task, agent: AGENT, suite: SUITE },
  };
}

/** @param {string} url @param {string} path @param {string | undefined} key @returns {Promise<any>} */
export async function get(url, path, key) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

/** @param {string} url */
async function latestEval(url) {
  return (await get(url, "/v1/host/assay/evals?limit=1", OWNER)).evals[0].runId;
}

/** @param {string} text */
function firstRun(text) {
  const found = /run-[0-9a-z]+/.exec(text);
  if (found === null) throw new Error(`no run in ${text}`);
  return found[0];
}

/** @param {string} text */
function annotationId(text) {
  return JSON.parse(text).annotationId;
}
