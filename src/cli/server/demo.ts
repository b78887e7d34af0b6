import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type { CreateRunRequest } from "../../protocol/runs/api.ts";
import { type Client, connect } from "../client/client.ts";
import { examplesFolder, programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { followRun } from "../runs/follow.ts";
import { defaultConfig } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { serving } from "./serve.ts";

/** A host with sample content, in a temporary folder. */
export async function demo(call: Call): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "assay-demo-"));
  try {
    return await serving({ ...call, config: demoConfig(call.config, folder) }, async ({ url, ownerKey = "" }) => {
      const reviewerKey = await fillDemo({ url, ownerKey });
      return { members: { reviewerKey }, hints: hintsFor(url, ownerKey, reviewerKey) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The settings of the demo. Those of a real host, such as its database and keys, are left out. */
function demoConfig({ host, port, console, logLevel, shutdownGraceMs }: Config, folder: string): Config {
  const examples = examplesFolder();
  const usual = defaultConfig();
  return {
    ...usual,
    ...{ host, port, console, shutdownGraceMs },
    // Warnings only, so that the log of the sample requests does not hide the address.
    logLevel: logLevel === usual.logLevel ? "warn" : logLevel,
    data: folder,
    workflows: [join(examples, "workflows")],
    packs: [join(examples, "agents", "packs")],
    agents: join(examples, "agents", "agents.json"),
    suites: [join(examples, "evals")],
    allowUnsigned: true,
  };
}

function hintsFor(url: string, ownerKey: string, reviewerKey: string): string[] {
  const program = programName();
  return [
    `In another terminal: export ASSAY_URL=${url} ASSAY_KEY=${ownerKey}`,
    `Then: ${program} run list, ${program} feedback summary, ${program} agent list, ${program} eval show`,
    `Two gates wait for reviewers, of whom vera is one: ${program} inbox --key ${reviewerKey}`,
    "Everything is deleted when you stop it with ctrl-c.",
  ];
}

/** The agent of the examples, with the suite that its pack brings. */
const AGENT = "local.acme.support.refunds";
const SUITE = "local.acme.evals.refunds@1.0.0";

interface Demo {
  readonly url: string;
  readonly ownerKey: string;
}

/** Makes the sample content: judged runs, open gates, an evaluation, an agent in test. Returns the key of a reviewer. */
async function fillDemo({ url, ownerKey }: Demo): Promise<string> {
  const as = (key: string) => connect({ url, key, timeoutMs: 30_000 });
  const owner = as(ownerKey);
  const [vera, otto] = await Promise.all(["vera", "otto"].map((name) => reviewer(owner, name)));
  const [reviewing, other] = [as(vera ?? ""), as(otto ?? "")];

  const [good, bad] = [await finished(owner, "hello", { name: "Ada" }), await finished(owner, "hello", { name: "" })];
  await judged(reviewing, good, { signal: { kind: "rating", rating: 5 }, note: "Just right." });
  await judged(reviewing, bad, { signal: { kind: "correction", correction: "Hello!" }, note: "The name is missing." });
  await judged(other, bad, { signal: { kind: "rating", rating: 2 } });

  await started(owner, { workflowId: "release-gate" });
  await started(owner, { workflowId: "release-gate", inputs: { notes: "A second release that waits." } });
  await evaluated(owner);
  await owner.promotion.transition(AGENT, { version: "1.0.0", transition: "promote", toState: "test" });
  return vera ?? "";
}

async function reviewer(owner: Client, principal: string): Promise<string> {
  return (await owner.identity.createKey({ principal, roles: ["reviewer"] })).key;
}

async function started(client: Client, request: CreateRunRequest): Promise<string> {
  return (await client.runs.start(request)).runId;
}

async function finished(client: Client, workflowId: string, inputs: Record<string, unknown>): Promise<string> {
  const runId = await started(client, { workflowId, inputs });
  await untilEnded(client, runId);
  return runId;
}

async function evaluated(client: Client): Promise<void> {
  await untilEnded(client, await started(client, { mode: "eval", evalSuiteRef: SUITE, agentId: AGENT }));
}

async function untilEnded(client: Client, runId: string): Promise<void> {
  await followRun(client, { runId, mode: "updates", onEvent: () => {}, signal: new AbortController().signal });
}

async function judged(client: Client, runId: string, judgment: AnnotateRequest): Promise<void> {
  await client.judgments.annotate(runId, judgment);
}
