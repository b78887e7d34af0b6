import type { Answer, Target } from "./target.ts";
import { gateWorkflow } from "./workflows.ts";

/** One thing of every kind in tenant `acme`, made over HTTP. The names are the parameters of the paths. */
export type Furniture = Readonly<Record<string, string>>;

const furnished = new WeakMap<Target, Promise<Furniture>>();

/** The same furniture for all attacks on one target. */
export function furnish(target: Target): Promise<Furniture> {
  const known = furnished.get(target) ?? makeFurniture(target);
  furnished.set(target, known);
  return known;
}

async function makeFurniture(target: Target): Promise<Furniture> {
  await target.register(gateWorkflow("furniture"));
  const runId = await target.begin("furniture");
  const { interrupt } = await target.reaches(runId, ["waiting-approval"]);
  const post = (path: string, body: unknown) => created(target, "POST", path, body);
  const key = await post("/v1/host/assay/keys", { principal: "zoe", roles: ["viewer"] });
  const webhook = await post("/v1/webhooks", { url: "https://hooks.example.com/acme", events: ["run.completed"] });
  await post("/v1/host/assay/roles", { role: "furniture", scopes: [] });
  const annotation = await post(`/v1/runs/${runId}/annotations`, { signal: { kind: "flag" }, note: "furniture" });
  const queue = await post("/v1/host/assay/queues", { name: "furniture", judgment: { kind: "rating" } });
  const added = await post(`/v1/host/assay/queues/${queue.queueId}/items`, { items: [{ runId }] });
  const suiteRef = "acme.evals.furniture@1.0.0";
  await created(target, "PUT", `/v1/host/assay/suites/${suiteRef}`, SUITE);
  return {
    runId,
    keyId: key.info.keyId,
    workflowId: "furniture",
    artifactId: "report",
    nodeId: "gate",
    interruptId: interrupt.interruptId,
    token: "none",
    role: "furniture",
    principal: "zoe",
    webhookId: webhook.webhookId,
    annotationId: annotation.annotationId,
    queueId: queue.queueId,
    itemId: added.added[0].itemId,
    hash: "0".repeat(64),
    sha256: "0".repeat(64),
    sessionId: "none",
    remarkId: "none",
    suiteRef,
    agentId: "local.acme.none",
    suiteId: "acme.evals.furniture",
    baseline: "none",
    taskId: "a",
    schemaName: "annotation",
    subject: "local.acme.none",
    certificateId: "none",
  };
}

async function created(target: Target, method: string, path: string, body: unknown): Promise<Answer["json"]> {
  const answer = await target.ask(method, path, { body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
}

const SUITE = {
  suiteId: "acme.evals.furniture",
  version: "1.0.0",
  modes: ["golden"],
  tasks: [{ taskId: "a", input: { q: 1 }, expected: { kind: "golden", match: { strategy: "contains", value: "x" } } }],
};
