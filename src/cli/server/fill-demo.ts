import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type { CreateRunRequest } from "../../protocol/runs/api.ts";
import { type Client, connect } from "../client/client.ts";
import { followRun } from "../runs/follow.ts";

/** The agent of the examples, with the suite that its pack brings. */
const AGENT = "local.acme.support.refunds";
const SUITE = "local.acme.evals.refunds@1.0.0";

interface Demo {
  readonly url: string;
  readonly ownerKey: string;
}

/** What somebody finds in a demo: runs that were judged, gates that wait, an evaluation, an agent on its way. Gives a reviewer's key. */
export async function fillDemo({ url, ownerKey }: Demo): Promise<string> {
  const as = (key: string) => connect({ url, key, timeoutMs: 30_000 });
  const owner = as(ownerKey);
  const [vera, otto] = await Promise.all(["vera", "otto"].map((name) => reviewer(owner, name)));
  const [reviewing, other] = [as(vera ?? ""), as(otto ?? "")];

  const [good, bad] = [await finished(owner, "hello", { name: "Ada" }), await finished(owner, "hello", { name: "" })];
  await judged(reviewing, good, { signal: { kind: "rating", rating: 5 }, note: "Just right." });
  await judged(reviewing, bad, { signal: { kind: "correction", correction: "Hello!" }, note: "Nobody is greeted." });
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
