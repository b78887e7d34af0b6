import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkRequest } from "../../../src/formats/reviews/request.ts";
import { REQUEST_EXAMPLES } from "../../../src/http/documents/openapi-examples.ts";
import { instantMs } from "../../../src/protocol/instant.ts";
import { Signal } from "../../../src/protocol/judgments/annotation.ts";
import { SCHEMA_NAMES, type SchemaName, schemaDocument } from "../../../src/protocol/published-schemas.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { builtinReviewer } from "../../../src/reviews/reviewers/builtin/builtin-reviewer.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { agentsOn } from "../../../src/testing/agents-on.ts";
import { EVAL_SETTINGS } from "../../../src/testing/eval-bench.ts";
import { finishedEval } from "../../../src/testing/eval-server.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const evals = { agents: agentsOn(store), settings: EVAL_SETTINGS };
  host = await testHost({ store, deps: { evals, reviews: { reviewers: [builtinReviewer()] } }, worker: true });
});
afterAll(() => host.close());

/** A keyword that is unknown or of no effect is an error, and so is a format without a check. */
function ajv(): Ajv2020 {
  const isDateTime = (text: string) => /^\d{4}-\d\d-\d\dT/.test(text) && instantMs(text) !== undefined;
  return new Ajv2020({ strict: true, allErrors: true, strictTypes: false, strictRequired: false }).addFormat(
    "date-time",
    isDateTime,
  );
}

async function served(name: SchemaName): Promise<ValidateFunction> {
  const answer = await host.ask("GET", `/v1/schemas/${name}`, { headers: { authorization: "" } });
  expect(answer.statusCode, answer.payload).toBe(200);
  return ajv().compile(answer.json());
}

function expectValid(check: ValidateFunction, value: unknown): void {
  expect(check(value), JSON.stringify(check.errors)).toBe(true);
}

describe("published schemas", () => {
  test("are listed without a key, each with its address", async () => {
    const answer = await host.ask("GET", "/v1/schemas", { headers: { authorization: "" } });
    expect(answer.statusCode).toBe(200);
    const { extensions } = (await host.ask("GET", "/.well-known/openwop")).json();
    expect(extensions.assay.schemas).toBe("/v1/schemas");
    const { schemas } = answer.json() as { schemas: { name: string; url: string }[] };
    expect(schemas.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["annotation", "eval-suite", "eval-summary", "afp-request", "afp-response"]),
    );
    for (const { name, url } of schemas) {
      const one = await host.ask("GET", url, { headers: { authorization: "" } });
      expect(one.headers["content-type"]).toContain("application/schema+json");
      expect(one.json()).toMatchObject({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: `urn:assay:schema:${name}`,
      });
    }
  });

  test.each(SCHEMA_NAMES)("%s is valid JSON Schema 2020-12", async (name) => {
    const check = await served(name);
    expect(check).toBeInstanceOf(Function);
    expect(ajv().validateSchema(schemaDocument(name))).toBe(true);
  });

  test("are also found by the names of their files, and by no others", async () => {
    const plain = (await host.ask("GET", "/v1/schemas/annotation")).payload;
    expect((await host.ask("GET", "/v1/schemas/annotation.schema.json")).payload).toBe(plain);
    expect((await host.ask("GET", "/v1/schemas/annotation.json")).payload).toBe(plain);
    for (const name of ["none", "constructor", "__proto__", ".json"]) {
      const answer = await host.ask("GET", `/v1/schemas/${name}`);
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ error: "not_found", details: { known: SCHEMA_NAMES } });
    }
  });

  test("are not sent again to a client that has them", async () => {
    const { headers } = await host.ask("GET", "/v1/schemas/annotation");
    const again = await host.ask("GET", "/v1/schemas/annotation", {
      headers: { "if-none-match": String(headers["etag"]) },
    });
    expect(again.statusCode).toBe(304);
  });

  test("are in the package as files, all of them", () => {
    const folder = new URL("../../../docs/schemas/", import.meta.url);
    expect(readdirSync(folder).sort()).toEqual(SCHEMA_NAMES.map((name) => `${name}.schema.json`).sort());
    const text = readFileSync(new URL("annotation.schema.json", folder), "utf8");
    expect(JSON.parse(text)).toEqual(schemaDocument("annotation"));
  });
});

describe("the schema of annotations", () => {
  const SIGNALS = [
    { kind: "rating", rating: 1 },
    { kind: "correction", correction: "" },
    { kind: "label", label: "pass" },
    { kind: "flag" },
    { kind: "flag", rating: 3 },
  ];

  test("takes every annotation that the host serves, and every body that it takes", async () => {
    const [annotation, create] = [await served("annotation"), await served("annotation-create")];
    const runId = await host.newRun();
    for (const signal of SIGNALS) {
      const json = { signal, note: "so", target: { nodeId: "a" } };
      expectValid(create, json);
      const made = await host.ask("POST", `/v1/runs/${runId}/annotations`, { json });
      expect(made.statusCode, made.payload).toBe(201);
      expectValid(annotation, made.json());
    }
    const { annotations } = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
    expect(annotations).toHaveLength(SIGNALS.length);
    for (const one of annotations) expectValid(annotation, one);
  });

  const ANNOTATION = {
    annotationId: "ann-1",
    target: { runId: "run-1" },
    signal: { kind: "flag" },
    actor: { principalRef: "ada" },
    createdAt: "2027-01-31T12:00:00.000Z",
  };

  test.each([
    ["a rating without a rating", { signal: { kind: "rating" } }],
    ["a rating with only a label", { signal: { kind: "rating", label: "good" } }],
    ["a label without a label", { signal: { kind: "label" } }],
    ["a correction without a correction", { signal: { kind: "correction" } }],
    ["a rating of 6", { signal: { kind: "rating", rating: 6 } }],
    ["an unknown kind", { signal: { kind: "applause" } }],
    ["no kind", { signal: { rating: 3 } }],
    ["a time that is none", { createdAt: "yesterday" }],
    ["a day in place of a time", { createdAt: "2027-01-31" }],
    ["a target without a run", { target: {} }],
    ["a state, which is not the protocol's", { state: "live" }],
  ])("refuses %s", async (_what, wrong) => {
    const check = await served("annotation");
    expectValid(check, ANNOTATION);
    expect(check({ ...ANNOTATION, ...wrong })).toBe(false);
  });

  test("is the one that requests are held against, and the refusal names the field", async () => {
    const runId = await host.newRun();
    const answer = await host.ask("POST", `/v1/runs/${runId}/annotations`, { json: { signal: { kind: "rating" } } });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({
      error: "validation_error",
      details: { problems: [{ path: "/signal", problem: 'must have "rating"' }] },
    });
    for (const signal of SIGNALS) expect(matches(Signal, signal)).toBe(true);
  });
});

describe("the schemas of evaluations", () => {
  test("take the suites that the host takes and the summary that it serves", async () => {
    expectValid(await served("eval-suite"), REQUEST_EXAMPLES.putSuite);
    const runId = await finishedEval(host.store);
    const answer = await host.ask("GET", `/v1/runs/${runId}/eval-summary`);
    expect(answer.statusCode, answer.payload).toBe(200);
    expectValid(await served("eval-summary"), answer.json());
    expect((await served("eval-summary"))({ ...answer.json(), output: "text of an answer" })).toBe(false);
    expect((await served("eval-summary"))({ ...answer.json(), aggregateScore: 1.2 })).toBe(false);
  });

  test.each([
    ["without tasks", { tasks: [] }],
    ["with a mode that there is not", { modes: ["bronze"] }],
    ["with an id of another form", { suiteId: "refunds" }],
    ["with a golden task that has no match", { tasks: [{ taskId: "a", input: 1, expected: { kind: "golden" } }] }],
    [
      "with a rubric task that has no criteria",
      { tasks: [{ taskId: "a", input: 1, expected: { kind: "rubric", rubric: [] } }] },
    ],
  ])("refuse a suite %s", async (_what, wrong) => {
    expect((await served("eval-suite"))({ ...(REQUEST_EXAMPLES.putSuite as object), ...wrong })).toBe(false);
  });
});

describe("the schemas of the feedback protocol", () => {
  const REQUEST = REQUEST_EXAMPLES.runReview as object;
  const ARTIFACT = { media_type: "text/plain", content: "x" };
  const decided = (item: unknown) => ({ ...REQUEST, iteration: 2, applied_feedback: { items: [item] } });
  const REQUESTS: readonly [string, unknown][] = [
    ["a first turn", REQUEST],
    ["content that is nothing", { ...REQUEST, artifact: { ...ARTIFACT, content: null } }],
    [
      "parameters of the media type",
      { ...REQUEST, artifact: { ...ARTIFACT, media_type: " Text/Markdown ; charset=utf-8" } },
    ],
    ["members that are not known", { ...REQUEST, more: 1, "x-trace": "t" }],
    ["a session inside the content", { ...REQUEST, artifact: { ...ARTIFACT, content: { sessionID: "s" } } }],
    ["a decision", decided({ id: "any id", status: "rejected", reason_code: "deferred" })],
    ["no decisions in a list", { ...REQUEST, applied_feedback: { items: [] } }],
    ["another version", { ...REQUEST, protocol_version: "1.1" }],
    ["an iteration of 0", { ...REQUEST, iteration: 0 }],
    ["an iteration in quotes", { ...REQUEST, iteration: "1" }],
    ["an iteration that no double holds", { ...REQUEST, iteration: 2 ** 53 }],
    ["a session", { ...REQUEST, sessionID: "ses_1" }],
    ["a session in another spelling", { ...REQUEST, "X-Session_Id": "ses_1" }],
    ["a session in the artifact", { ...REQUEST, artifact: { ...ARTIFACT, "session.token": "t" } }],
    ["a session in a decision", decided({ id: "i", status: "accepted", SESSION: "s" })],
    ["no content", { ...REQUEST, artifact: { media_type: "text/plain" } }],
    ["no media type", { ...REQUEST, artifact: { media_type: "text", content: "x" } }],
    ["a reference of null", { ...REQUEST, artifact: { ...ARTIFACT, artifact_ref: null } }],
    ["decisions that are null", { ...REQUEST, applied_feedback: null }],
    ["decisions without a list", { ...REQUEST, applied_feedback: {} }],
    ["a decision of another kind", decided({ id: "i", status: "maybe" })],
    ["a decision without an id", decided({ status: "accepted" })],
    ["an explanation that is no text", decided({ id: "i", status: "partial", explanation: 1 })],
    ["a list", []],
  ];

  test.each(REQUESTS)("agree with the provider about a request with %s", async (_what, request) => {
    expect((await served("afp-request"))(request)).toBe(checkRequest(request).ok);
  });

  /** The lines that the host answers with, and the response in them. */
  async function turn(request: unknown, session = "") {
    const query = session === "" ? "" : `?session=${session}`;
    const answer = await host.ask("POST", `/v1/host/assay/afp/run${query}`, { json: request });
    expect(answer.statusCode, answer.payload).toBe(200);
    const lines = answer.payload
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    return { lines, response: JSON.parse(lines[1].part.text), session: String(answer.headers["x-afp-session"]) };
  }

  test("take every response of the provider and every line that carries it", async () => {
    const [response, message] = [await served("afp-response"), await served("afp-message")];
    const first = await turn(REQUEST);
    const [remark] = first.response.feedback.areas_for_improvement;
    const next = {
      ...REQUEST,
      iteration: 2,
      unknown: true,
      applied_feedback: {
        items: [
          { id: remark.id, status: "accepted" },
          { id: "never issued", status: "rejected" },
        ],
      },
    };
    const turns = [
      first,
      await turn(next, first.session),
      await turn({ protocol_version: "1.2" }),
      await turn([]),
      await turn({ ...REQUEST, artifact: { media_type: "image/png", content: "x" } }),
    ];
    expect(turns.map((one) => one.response.error?.code ?? one.response.status)).toEqual([
      "success",
      "success",
      "INVALID_REQUEST",
      "INVALID_REQUEST",
      "UNSUPPORTED_MEDIA_TYPE",
    ]);
    for (const one of turns) {
      expectValid(response, one.response);
      for (const line of one.lines) expectValid(message, line);
    }
  });

  test.each([
    ["of no status", { status: "done" }],
    ["with success and no feedback", { feedback: undefined }],
    ["with error and no error", { status: "error", feedback: undefined }],
    ["with a member that is no extension", { verdict: "good" }],
    ["with a session", { "x-session": "ses_1" }],
  ])("refuse a response %s", async (_what, wrong) => {
    const { response } = await turn(REQUEST);
    const check = await served("afp-response");
    expectValid(check, { ...response, "x-more": 1 });
    expect(check(JSON.parse(JSON.stringify({ ...response, ...wrong })))).toBe(false);
  });

  test("are what the API document says of the route", async () => {
    const document = (await host.ask("GET", "/v1/openapi.json")).json();
    const { requestBody, responses, parameters, description } = document.paths["/v1/host/assay/afp/run"].post;
    expect(requestBody).toMatchObject({
      required: true,
      content: { "application/json": { schema: { $ref: "#/components/schemas/AfpRequest" }, example: REQUEST } },
    });
    expect(responses["200"].content["application/x-ndjson"].schema).toMatchObject({
      type: "string",
      contentSchema: { $ref: "#/components/schemas/AfpMessage" },
    });
    expect(JSON.stringify(document.components.schemas.AfpMessage)).toContain(
      '"contentSchema":{"$ref":"#/components/schemas/AfpResponse"}',
    );
    const names = parameters.flatMap(({ name }: { name?: string }) => name ?? []);
    expect(names).toEqual(["agent", "session", "continue", "fork"]);
    for (const name of ["EmptyInput", "SessionNotFound", "NotFound", "SessionBusy", "TooLarge"])
      expect(description).toContain(name);
    for (const status of ["400", "401", "403", "404", "409", "413"]) expect(responses).toHaveProperty(status);
  });
});
