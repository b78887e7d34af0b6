import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packArchive } from "../../../src/agents/packs/pack-archive.ts";
import { REQUEST_EXAMPLES } from "../../../src/http/documents/openapi-examples.ts";
import { fillPath } from "../../../src/http/pipeline/read-url.ts";
import type { BaselineFile } from "../../../src/protocol/evals/baselines.ts";
import type { Operation } from "../../../src/protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../../src/protocol/operations.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { agentsOn } from "../../../src/testing/agents-on.ts";
import { artifactWrite } from "../../../src/testing/builders.ts";
import { EVAL_SETTINGS } from "../../../src/testing/eval-bench.ts";
import { finishedEval } from "../../../src/testing/eval-server.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { type Asked, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { goldTape, keptCertificate } from "../../../src/testing/kept-certificate.ts";
import { lexicalJudge } from "../../../src/testing/lexical-judge.ts";
import { agentManifest, packFiles, packManifest } from "../../../src/testing/packs.ts";
import { decidedReview } from "../../../src/testing/review-client.ts";
import { bodyOf, tapeText } from "../../../src/testing/tape-texts.ts";
import { workflow } from "../../../src/testing/workflow.ts";

// Whether the served document says what really comes back: every operation is asked in several ways, and each answer is
// held against the status, the headers and the schema that the document gives for it.

interface Described {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
type Document = {
  components: { headers: Record<string, { required?: true }> };
  paths: Record<string, Record<string, { responses: Record<string, Described> }>>;
};

let host: TestHost;
let document: Document;
let ajv: Ajv2020;
/** By their schema, which many answers share. */
const checks = new Map<string, ValidateFunction>();
const named = {
  runId: "",
  keyId: "",
  webhookId: "",
  workflowId: "documented",
  artifactId: "report",
  nodeId: "gate",
  interruptId: "",
  token: "",
  role: "lead",
  principal: "vic",
  annotationId: "",
  queueId: "",
  itemId: "",
  queuedRunId: "",
  hash: bodyOf("hello world").hash,
  sha256: (REQUEST_EXAMPLES.keepBaselineFile as BaselineFile).sha256,
  sessionId: "",
  remarkId: "remark-a",
  suiteRef: "acme.support.evals.refunds@1.0.0",
  agentId: "local.acme.support.refunds",
  suiteId: "local.test.evals.echo",
  baseline: "main",
  taskId: "a",
  subject: "default",
  certificateId: "",
  schemaName: "annotation",
};
let gold: object;

beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const evals = { agents: agentsOn(store), settings: EVAL_SETTINGS, judge: lexicalJudge().judge };
  host = await testHost({
    store,
    deps: { evals },
    worker: true,
    settings: { maxRequestBodyBytes: 4096, maxTapeBytes: 4096 },
  });
  const { id: _, ...rest } = workflow({ id: named.workflowId, nodes: { a: "core.noop" } });
  await host.ask("POST", "/v1/workflows", { json: { id: named.workflowId, ...rest } });
  await host.ask("POST", "/v1/workflows", { json: REQUEST_EXAMPLES.registerWorkflow });
  await new GateClient(host).register("gated", "core.approvalGate", {});
  gold = await goldTape(host);
  named.certificateId = (await keptCertificate(store)).certificateId;
  document = (await host.ask("GET", "/v1/openapi.json")).json();
  ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } }).addSchema(document, "api");
});
afterAll(() => host.close());

// What is live ends with its reader only, so it is asked over a socket, in its own test.
const operations = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(
  ([id, { capability }]) => capability !== "conformanceSeams" && id !== "streamInbox" && id !== "streamJudgments",
);

const QUERIES: Partial<Record<OperationId, string>> = {
  verifyAudit: "?fromSeq=0&toSeq=99",
  pollEvents: "?timeout=1",
  streamEvents: "?streamMode=debug",
};

/** A run of its own for every request, so that what one does to it is nothing to the next. */
async function target({ path }: Operation): Promise<string> {
  named.runId = path.includes("{runId}") ? await host.newRun() : "";
  QUERIES.diffRuns = `?against=${named.runId}`;
  if (/\{(nodeId|token|interruptId)\}/.test(path)) {
    const gates = new GateClient(host);
    named.runId = await gates.waiting("gated");
    named.token = await gates.token(named.runId);
    named.interruptId = (await gates.interrupt(named.runId)).interruptId;
  }
  if (path.includes("{artifactId}")) {
    await host.store.commit({ tenant: "t1", artifacts: [artifactWrite(named.runId)] });
  }
  if (path.includes("{role}")) {
    await host.ask("POST", "/v1/host/assay/roles", { json: { role: named.role, scopes: [] } });
  }
  if (path.includes("{keyId}")) {
    named.keyId = (await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "p" } })).json().info.keyId;
  }
  if (path.includes("{webhookId}")) {
    const json = { url: "http://127.0.0.1:9/", events: ["run.failed"] };
    named.webhookId = (await host.ask("POST", "/v1/webhooks", { json })).json().webhookId;
  }
  if (path.includes("{annotationId}")) {
    const url = `/v1/host/assay/runs/${await host.newRun()}/annotations`;
    named.annotationId = (await host.ask("POST", url, { json: { signal: { kind: "flag" } } })).json().annotationId;
  }
  if (path.includes("{queueId}")) await queueOfItsOwn();
  if (path.includes("/tapes/{runId}")) await tapeOfItsOwn();
  if (path.includes("{sessionId}")) named.sessionId = await decidedReview(host);
  if (path.includes("{remarkId}")) named.runId = await host.newRun();
  if (path.includes("{agentId}")) await host.ask("POST", "/v1/host/assay/agents:install", { body: PACK });
  if (path.includes("{subject}")) {
    await host.ask("PUT", `/v1/host/assay/promotion-policies/${named.subject}`, { json: REQUEST_EXAMPLES.putPolicy });
  }
  if (path.includes("{suiteRef}")) {
    await host.ask("PUT", `/v1/host/assay/suites/${named.suiteRef}`, { json: REQUEST_EXAMPLES.putSuite });
  }
  if (/evals\/\{runId\}|eval-summary|\{baseline\}/.test(path)) await evalOfItsOwn();
  if (path.endsWith("suites:add-from")) await correctedEval();
  return fillPath(path, named);
}

let corrections = 0;

async function correctedEval(): Promise<void> {
  await evalOfItsOwn();
  corrections += 1;
  const url = `/v1/host/assay/evals/${named.runId}/tasks/a:judge`;
  await host.ask("POST", url, { json: { correction: `better ${corrections}` } });
}

async function evalOfItsOwn(): Promise<void> {
  named.runId = await finishedEval(host.store);
  const url = `/v1/host/assay/eval-baselines/${named.suiteId}/${named.baseline}`;
  await host.ask("PUT", url, { json: { runId: named.runId } });
}

let tapes = 0;

async function tapeOfItsOwn(): Promise<void> {
  tapes += 1;
  const tape = tapeText({ greeting: `hello ${tapes}`, bodies: ["hello world"] });
  named.runId = (await host.ask("POST", "/v1/host/assay/tapes", { json: { tape } })).json().runId;
  const url = `/v1/host/assay/tapes/${named.runId}/bodies`;
  await host.ask("POST", url, { json: REQUEST_EXAMPLES.storeTapeBody });
}

let queues = 0;

async function queueOfItsOwn(): Promise<void> {
  queues += 1;
  const json = { ...(REQUEST_EXAMPLES.createQueue as object), name: `queue ${queues}`, query: undefined };
  named.queueId = (await host.ask("POST", "/v1/host/assay/queues", { json })).json().queueId;
  named.queuedRunId = await host.newRun();
  const items = { items: [{ runId: named.queuedRunId }] };
  const added = await host.ask("POST", `/v1/host/assay/queues/${named.queueId}/items`, { json: items });
  named.itemId = added.json().added[0].itemId;
}

const AGENTS = [agentManifest({ evalSuiteRef: undefined })];
const PACK = Buffer.from(packArchive(packFiles(packManifest({ agents: AGENTS }))));

function asked(id: OperationId, operation: Operation): Asked {
  if (operation.takesPack === true) return { body: PACK };
  if (id === "runReview") return { json: REQUEST_EXAMPLES[id] };
  if (id === "calibrateJudge") return { json: gold };
  if (id === "addTaskFromRun") return { json: { runId: named.runId } };
  if (id === "setBaseline") return { json: { runId: named.runId } };
  if (id === "annotateRemark") return { json: { runId: named.runId } };
  if (id === "addQueueItems") return { json: { items: [{ runId: named.queuedRunId }] } };
  return operation.body === undefined ? {} : { json: REQUEST_EXAMPLES[id] ?? {} };
}

type Answer = Awaited<ReturnType<TestHost["ask"]>>;

function expectDescribed({ path, method }: Operation, answer: Answer): void {
  const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {};
  const { statusCode, headers, payload } = answer;
  const described = responses[statusCode];
  expect(described, `${statusCode} is not described: ${payload.slice(0, 200)}`).toBeDefined();
  for (const [name, { $ref }] of Object.entries(described?.headers ?? {})) {
    const { required } = document.components.headers[$ref.split("/").at(-1) ?? ""] ?? {};
    if (required) expect(headers).toHaveProperty(name.toLowerCase());
  }
  if ("retry-after" in headers) expect(described?.headers).toHaveProperty("Retry-After");
  if (statusCode === 304 || statusCode === 204) {
    expect(payload).toBe("");
    return;
  }
  const type = String(headers["content-type"]).replace("; charset=utf-8", "");
  const types = Object.keys(described?.content ?? {});
  if (!types.includes("*/*") || statusCode >= 400) expect(types).toContain(type);
  if (type !== "application/json") return;
  const pointer = ["paths", path, method.toLowerCase(), "responses", statusCode, "content", type, "schema"]
    .map((step) => encodeURIComponent(String(step).replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const schema = JSON.stringify(described?.content?.[type]?.schema);
  const check = checks.get(schema) ?? ajv.compile({ $ref: `api#/${pointer}` });
  checks.set(schema, check);
  const body: unknown = JSON.parse(payload);
  expect(check(body), `${ajv.errorsText(check.errors)} in ${payload.slice(0, 300)}`).toBe(true);
  if (statusCode >= 400) expect(described?.description).toContain(`\`${(body as { error: string }).error}\``);
}

describe.each(operations)("%s is described as it answers", (id, operation) => {
  const ask = async (more: Asked = {}, path?: string) =>
    host.ask(operation.method, (path ?? (await target(operation))) + (QUERIES[id] ?? ""), {
      ...asked(id, operation),
      ...more,
    });
  const as = (who: Who) => ask({ as: who });

  test("to a caller who may", async () => {
    const answer = await ask();
    expectDescribed(operation, answer);
    expect([operation.success.status, operation.otherwise?.status, 200, 409]).toContain(answer.statusCode);
  });

  test("to callers who may not", async () => {
    if (operation.access === "public") return;
    expectDescribed(operation, await ask({ headers: { authorization: "" } }));
    for (const who of ["stranger", "narrow", "other"] as const) expectDescribed(operation, await as(who));
  });

  test("when it names nothing", async () => {
    const nothing = {
      runId: "run-none",
      keyId: "key-none",
      webhookId: "hook-none",
      workflowId: "none",
      artifactId: "none",
      nodeId: "none",
      interruptId: "none",
      token: "none",
      role: "none",
      principal: "none",
      annotationId: "none",
      queueId: "none",
      itemId: "none",
      sessionId: "none",
      remarkId: "none",
      agentId: "none",
      suiteId: "none",
      baseline: "none",
      taskId: "none",
      subject: "none",
      certificateId: "none",
      schemaName: "none",
    };
    if (operation.path.includes("{")) expectDescribed(operation, await ask({}, fillPath(operation.path, nothing)));
  });

  test("to a body that is not one it takes", async () => {
    if (operation.body === undefined) return;
    for (const body of ['{"zzz":1}', "{", "[]", `"${"x".repeat(5000)}"`]) {
      expectDescribed(operation, await host.ask(operation.method, await target(operation), { body }));
    }
    const headers = { "content-type": "text/plain" };
    expectDescribed(operation, await host.ask(operation.method, await target(operation), { body: "{}", headers }));
  });

  test("to a query that is not one it takes", async () => {
    if (operation.query === undefined) return;
    for (const query of ["?limit=0", "?fromSeq=x", "?timeout=99", "?bufferMs=-1", "?streamMode=no", "?%zz"]) {
      expectDescribed(operation, await host.ask(operation.method, (await target(operation)) + query));
    }
  });

  test("to a request under an idempotency key, again, and with another body", async () => {
    if (operation.idempotent === undefined) return;
    const headers = { "idempotency-key": `once-${id}` };
    const path = await target(operation);
    const first = await ask({ headers }, path);
    expectDescribed(operation, first);
    const again = await ask({ headers }, path);
    expectDescribed(operation, again);
    if (first.statusCode < 400) expect(again.headers).toMatchObject({ "openwop-idempotent-replay": "true" });
    if (operation.body === undefined) return;
    const other = id === "createRun" ? { workflowId: "noop" } : id === "bulkCancelRuns" ? { runIds: ["x"] } : undefined;
    const json = other ?? (id === "registerWorkflow" ? REQUEST_EXAMPLES.registerWorkflow : { reason: "other" });
    expectDescribed(operation, await ask({ headers, json }, path));
  });

  test("to whoever has it already", async () => {
    const first = await ask();
    const { etag } = first.headers;
    if (etag === undefined) return;
    const path = fillPath(operation.path, named);
    expectDescribed(operation, await ask({ headers: { "if-none-match": String(etag) } }, path));
  });
});
