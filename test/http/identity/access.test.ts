import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packArchive } from "../../../src/agents/packs/pack-archive.ts";
import { REQUEST_EXAMPLES } from "../../../src/http/documents/openapi-examples.ts";
import { fillPath } from "../../../src/http/pipeline/read-url.ts";
import type { Operation } from "../../../src/protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../../src/protocol/operations.ts";
import { artifactWrite } from "../../../src/testing/builders.ts";
import { finishedEval } from "../../../src/testing/eval-server.ts";
import { expectError, KEYS, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { keptCertificate } from "../../../src/testing/kept-certificate.ts";
import { agentManifest, packFiles, packManifest } from "../../../src/testing/packs.ts";
import { reviewRequest } from "../../../src/testing/review-client.ts";
import { evalSuite } from "../../../src/testing/suite-builders.ts";
import { workflow } from "../../../src/testing/workflow.ts";

let host: TestHost;
const mine = {
  runId: "",
  keyId: "",
  workflowId: "only-mine",
  artifactId: "report",
  nodeId: "a",
  interruptId: "int-only-mine",
  token: "none",
  role: "only-mine",
  principal: "zoe",
  webhookId: "",
  annotationId: "",
  queueId: "",
  itemId: "",
  hash: "0".repeat(64),
  sha256: "0".repeat(64),
  sessionId: "",
  remarkId: "remark-only-mine",
  suiteRef: "acme.evals.only-mine@1.0.0",
  agentId: "local.only-mine.support.refunds",
  suiteId: "acme.only-mine.evals.echo",
  baseline: "only-mine",
  taskId: "a",
  schemaName: "annotation",
  subject: "local.only-mine.support.refunds",
  certificateId: "",
};

beforeAll(async () => {
  host = await testHost();
  await host.ask("POST", "/v1/workflows", { json: workflow({ id: mine.workflowId, nodes: { a: "core.noop" } }) });
  mine.runId = await host.newRun();
  await host.store.commit({ tenant: "t1", artifacts: [artifactWrite(mine.runId)] });
  const { info } = (await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "zoe" } })).json();
  mine.keyId = info.keyId;
  const hook = await host.ask("POST", "/v1/webhooks", { json: REQUEST_EXAMPLES.registerWebhook });
  mine.webhookId = hook.json().webhookId;
  await host.ask("POST", "/v1/host/assay/roles", { json: { role: mine.role, scopes: [] } });
  const flag = { signal: { kind: "flag" }, note: "only-mine" };
  const judged = await host.ask("POST", `/v1/runs/${mine.runId}/annotations`, { json: flag });
  mine.annotationId = judged.json().annotationId;
  const queue = { name: "only-mine", judgment: { kind: "rating" } };
  mine.queueId = (await host.ask("POST", "/v1/host/assay/queues", { json: queue })).json().queueId;
  const items = { items: [{ runId: mine.runId }] };
  const added = await host.ask("POST", `/v1/host/assay/queues/${mine.queueId}/items`, { json: items });
  mine.itemId = added.json().added[0].itemId;
  const review = await host.ask("POST", "/v1/host/assay/afp/run", { json: reviewRequest("fix:only-mine") });
  mine.sessionId = String(review.headers["x-afp-session"]);
  const suite = evalSuite({ suiteId: "acme.evals.only-mine" });
  await host.ask("PUT", `/v1/host/assay/suites/${mine.suiteRef}`, { json: suite });
  const agents = [agentManifest({ agentId: mine.agentId, evalSuiteRef: undefined })];
  const body = Buffer.from(packArchive(packFiles(packManifest({ agents }))));
  await host.ask("POST", "/v1/host/assay/agents:install", { body });
  const evaluated = await finishedEval(host.store, mine.suiteId);
  const baseline = `/v1/host/assay/eval-baselines/${mine.suiteId}/${mine.baseline}`;
  await host.ask("PUT", baseline, { json: { runId: evaluated } });
  const suiteId = "acme.only-mine.evals.tone";
  mine.certificateId = (await keptCertificate(host.store, { suiteId })).certificateId;
  const policy = `/v1/host/assay/promotion-policies/${mine.subject}`;
  await host.ask("PUT", policy, { json: REQUEST_EXAMPLES.putPolicy });
});
afterAll(() => host.close());

const operations = Object.entries(OPERATIONS) as [OperationId, Operation][];
/** What opens these routes stands in their path. */
function isCredential([, { path }]: readonly [string, Operation]): boolean {
  return path.includes("{token}");
}

const isProtected = ([, { access }]: [OperationId, Operation]) => access !== "public";
const needsScope = ([, { access }]: [OperationId, Operation]) => access !== "public" && access !== "authenticated";
const namesSomething = (entry: [OperationId, Operation]) => entry[1].path.includes("{") && !isCredential(entry);

function ask(id: OperationId, operation: Operation, as: Who | undefined, headers: Record<string, string> = {}) {
  const { method, path } = operation;
  const search = id === "verifyAudit" ? "?fromSeq=0&toSeq=9" : "";
  const json = operation.body === undefined ? undefined : (REQUEST_EXAMPLES[id] ?? { principal: "p", action: "x" });
  const withKey = as === undefined ? { authorization: "" } : {};
  return host.ask(method, fillPath(path, mine) + search, {
    ...(as === undefined ? {} : { as }),
    ...(json === undefined ? {} : { json }),
    headers: { ...withKey, ...headers },
  });
}

describe("without a key", () => {
  test.each(operations.filter(isProtected))("%s answers 401", async (id, operation) => {
    const response = await ask(id, operation, undefined);
    expectError(response, "unauthenticated");
    expect(response.headers["www-authenticate"]).toBe("Bearer");
  });

  test.each(operations.filter((entry) => !isProtected(entry) && !isCredential(entry)))(
    "%s answers all the same",
    async (id, operation) => {
      expect(await ask(id, operation, undefined)).toMatchObject({ statusCode: 200 });
    },
  );
});

describe("with a key nobody knows", () => {
  test.each(operations.filter(isProtected))("%s answers 401 and does not repeat the key", async (id, operation) => {
    const response = await ask(id, operation, undefined, { authorization: "Bearer nobody-knows-this-key" });
    expectError(response, "unauthenticated");
    expect(response.payload).not.toContain("nobody-knows");
  });
});

describe("with a key of a principal whose roles grant nothing", () => {
  test.each(operations.filter(needsScope))("%s answers 403 and names the scope", async (id, operation) => {
    const response = await ask(id, operation, "stranger");
    expect(expectError(response, "forbidden")).toMatchObject({ scopeRequired: operation.access });
  });
});

describe("with a key that allows less than its principal may", () => {
  const others = operations.filter((entry) => needsScope(entry) && entry[1].access !== "runs:read");
  test.each(others)("%s answers 403", async (id, operation) => {
    const details = expectError(await ask(id, operation, "narrow"), "forbidden");
    expect(details).toMatchObject({ scopeRequired: operation.access, missingFrom: "the key" });
  });
});

/** Schemas are the same for everyone; they belong to no tenant. */
const isPublished = ([id]: [OperationId, Operation]) => id === "getSchema";

describe("with a key of another tenant", () => {
  // Those are put where the caller is at home, whoever else has one of that name.
  const atHome: readonly OperationId[] = ["putSuite", "putPolicy", "keepBaselineFile"];
  const aboutMine = operations
    .filter((entry) => namesSomething(entry) && !isPublished(entry))
    .filter(([id, { capability }]) => capability !== "conformanceSeams" && !atHome.includes(id));
  test.each(aboutMine)("%s of what is mine does not exist", async (id, operation) => {
    const response = await ask(id, operation, "other");
    expectError(response, operation.path.includes("{webhookId}") ? "subscription_not_found" : "not_found");
  });

  test("no list holds anything of mine", async () => {
    for (const url of [
      "/v1/runs",
      "/v1/workflows",
      "/v1/host/assay/keys",
      "/v1/host/assay/audit/entries",
      "/v1/host/assay/roles",
      "/v1/host/assay/principals",
      "/v1/host/assay/webhooks",
      "/v1/host/assay/annotations",
      "/v1/host/assay/queues",
      "/v1/host/assay/inbox?flagged=true",
      "/v1/host/assay/reviews",
      "/v1/host/assay/reviews/analytics",
      "/v1/host/assay/suites",
      "/v1/host/assay/evals",
      "/v1/host/assay/eval-baselines",
      "/v1/host/assay/judge-certificates",
      "/v1/agents",
      "/v1/host/assay/promotion-policies",
    ]) {
      const { payload } = await host.ask("GET", url, { as: "other" });
      expect(payload).not.toContain("only-mine");
      expect(payload).not.toContain(mine.runId);
      expect(payload).not.toContain(mine.webhookId);
      expect(payload).not.toContain(mine.annotationId);
      expect(payload).not.toContain(mine.sessionId);
      // In quotes: three letters also occur in digests and ids.
      expect(payload).not.toContain(`"${KEYS.owner.principal}"`);
    }
  });

  test("the event-log seam has nothing to show", async () => {
    const seam = `/v1/host/sample/test/runs/${mine.runId}/events`;
    expect((await host.ask("GET", seam, { as: "other" })).json()).toEqual({ events: [] });
    expect((await host.ask("GET", seam)).json().events).toHaveLength(1);
  });

  test("my run and what I said of it are untouched after all of this", async () => {
    expect((await host.ask("GET", `/v1/runs/${mine.runId}`)).json().status).toBe("pending");
    const { annotations } = (await host.ask("GET", "/v1/host/assay/annotations")).json();
    expect(annotations).toMatchObject([{ annotationId: mine.annotationId, state: "live", flag: { status: "open" } }]);
  });
});

describe("with a key bound to a workspace", () => {
  test("runs of another workspace, and those of none, do not exist", async () => {
    const east = await host.newRun("east");
    expect(await host.ask("GET", `/v1/runs/${east}`, { as: "east" })).toMatchObject({ statusCode: 200 });
    expectError(await host.ask("GET", `/v1/runs/${east}`, { as: "west" }), "not_found");
    expectError(await host.ask("POST", `/v1/runs/${east}/cancel`, { as: "west", json: {} }), "not_found");
    expectError(await host.ask("GET", `/v1/runs/${mine.runId}`, { as: "west" }), "not_found");
    expect((await host.ask("GET", "/v1/runs", { as: "west" })).json()).toEqual({ runs: [] });
  });
});

describe("a key that was revoked", () => {
  test("is told so, with the same status as an unknown one", async () => {
    const made = await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "tom", roles: ["viewer"] } });
    const { key, info } = made.json();
    const headers = { authorization: `Bearer ${key}` };
    expect(await host.ask("GET", "/v1/host/assay/whoami", { headers })).toMatchObject({ statusCode: 200 });
    expect(await host.ask("POST", `/v1/host/assay/keys/${info.keyId}:revoke`)).toMatchObject({ statusCode: 200 });
    expectError(await host.ask("GET", "/v1/host/assay/whoami", { headers }), "key_revoked");
  });
});
