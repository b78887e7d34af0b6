import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadSuite, requireSuite, suiteHash } from "../../../src/evals/suite/load-suite.ts";
import { suiteAsOf } from "../../../src/evals/suite/replace-suite.ts";
import { keepHostWide } from "../../../src/evals/suite/suite-store.ts";
import type { AgentEvalSuite } from "../../../src/protocol/evals/eval-suite.ts";
import { PutSuiteResponse, SuitePage } from "../../../src/protocol/evals/suite-api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { evalSuite, goldenTask } from "../../../src/testing/suite-builders.ts";

const SUITES = "/v1/host/assay/suites";
const refOf = ({ suiteId, version }: AgentEvalSuite) => `${suiteId}@${version}`;
const named = (name: string, version = "1.0.0", more: Partial<AgentEvalSuite> = {}) =>
  evalSuite({ suiteId: `acme.evals.${name}`, version, ...more });

describe.each(HTTP_STORES)("suites on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const put = (suite: AgentEvalSuite, as: Who = "owner", ref = refOf(suite)) =>
    host.ask("PUT", `${SUITES}/${ref}`, { json: suite, as });
  const get = (ref: string, as: Who = "owner") => host.ask("GET", `${SUITES}/${ref}`, { as });
  const list = async (query = "", as: Who = "owner"): Promise<SuitePage> =>
    (await host.ask("GET", `${SUITES}${query}`, { as })).json();
  const keepForAll = (suite: AgentEvalSuite) =>
    keepHostWide(host.host, requireSuite(loadSuite(Buffer.from(JSON.stringify(suite))), "suite"));

  test("a suite of ten thousand tasks is kept, and one that would hold up other requests is refused", async () => {
    const tasks = Array.from({ length: 10_000 }, (_, i) => goldenTask(`task-${i}`));
    expect((await put(named("many", "1.0.0", { tasks }))).statusCode).toBe(201);
    const input = Array.from({ length: 130_000 }, () => ({}));
    const answer = await put(named("costly", "1.0.0", { tasks: [{ ...goldenTask("a"), input }] }));
    expect(expectError(answer, "validation_error")["problems"]).toMatchObject([{ code: "too_large" }]);
  });

  test("a suite is kept under its name, with its hash, and read as it was written", async () => {
    const suite = named("first", "1.0.0", { targetAgentId: "vendor.acme.support" });
    const body = JSON.stringify(suite, null, 7);
    const kept = await host.ask("PUT", `${SUITES}/${refOf(suite)}`, { body });
    expect(kept.statusCode).toBe(201);
    expect(matches(PutSuiteResponse, kept.json())).toBe(true);
    expect(kept.json()).toMatchObject({
      suiteId: "acme.evals.first",
      sha256: suiteHash(suite),
      taskCount: 1,
      targetAgentId: "vendor.acme.support",
      hostWide: false,
      registeredBy: "ada",
      created: true,
      warnings: [],
    });
    expect((await get(refOf(suite))).body).toBe(body);
    const audit = (await host.ask("GET", "/v1/host/assay/audit/entries?limit=1000")).json().entries;
    expect(audit).toContainEqual(
      expect.objectContaining({ action: "suite.registered", target: refOf(suite), actor: "ada" }),
    );
  });

  test("the same suite again changes nothing, another one under its name is refused", async () => {
    const suite = named("kept");
    const { tasks, ...rest } = suite;
    expect((await put(suite)).statusCode).toBe(201);
    const again = await host.ask("PUT", `${SUITES}/${refOf(suite)}`, { json: { tasks, ...rest } });
    expect(again.statusCode).toBe(200);
    expect(again.json()).toMatchObject({ created: false, sha256: suiteHash(suite) });
    const changed = { ...suite, tasks: [goldenTask("another")] };
    expectError(await put(changed), "suite_conflict");
    expect((await get(refOf(suite))).json()).toEqual(suite);
    expect((await put({ ...changed, version: "1.0.1" })).statusCode).toBe(201);
  });

  test("of many who bring different suites under one name, one is kept", async () => {
    const bids = Array.from({ length: 8 }, (_, i) => named("raced", "1.0.0", { tasks: [goldenTask(`task-${i % 4}`)] }));
    const answers = await Promise.all(bids.map((suite) => put(suite)));
    const kept = (await get("acme.evals.raced@1.0.0")).json() as AgentEvalSuite;
    const statuses = answers.map(({ statusCode }) => statusCode).sort();
    expect(statuses).toEqual([200, 201, 409, 409, 409, 409, 409, 409]);
    for (const [i, { statusCode }] of answers.entries()) {
      expect(statusCode === 409).toBe(suiteHash(bids[i] as AgentEvalSuite) !== suiteHash(kept));
    }
  });

  test("without a version it is the highest", async () => {
    for (const version of ["1.9.0", "1.10.0", "1.2.0"]) await put(named("several", version));
    expect((await get("acme.evals.several")).json()).toMatchObject({ version: "1.10.0" });
    await keepForAll(named("several", "2.0.0"));
    expect((await get("acme.evals.several")).json()).toMatchObject({ version: "2.0.0" });
  });

  test("a suite of the host is there for every tenant, and nothing under its name takes its place", async () => {
    await keepForAll(named("shared"));
    for (const as of ["owner", "other"] as const)
      expect((await get("acme.evals.shared@1.0.0", as)).statusCode).toBe(200);
    const forged = named("shared", "1.0.0", { tasks: [goldenTask("our-own")] });
    for (const as of ["owner", "east"] as const) {
      expect(expectError(await put(forged, as), "suite_conflict")).toMatchObject({ hostWide: true });
    }
    const again = await put(named("shared"));
    expect(again.statusCode).toBe(200);
    expect(again.json()).toMatchObject({ created: false, hostWide: true });
    expect((await get("acme.evals.shared@1.0.0")).json()).toEqual(named("shared"));
    expect((await list("?suiteId=acme.evals.shared")).suites).toMatchObject([{ hostWide: true }]);
  });

  test("a workspace cannot replace a suite of its tenant", async () => {
    await put(named("of-tenant"));
    const forged = named("of-tenant", "1.0.0", { tasks: [goldenTask("easy")] });
    expect(expectError(await put(forged, "east"), "suite_conflict")).toMatchObject({ hostWide: false });
    expect((await get("acme.evals.of-tenant@1.0.0", "east")).json()).toEqual(named("of-tenant"));
  });

  test("a suite that a tenant kept before the host brought other content under its name no longer answers to it", async () => {
    const own = named("earlier", "1.0.0", { tasks: [goldenTask("our-own")] });
    expect((await put(own)).statusCode).toBe(201);
    await keepForAll(named("earlier"));
    expect((await get("acme.evals.earlier@1.0.0")).json()).toEqual(named("earlier"));
    expect((await list("?suiteId=acme.evals.earlier")).suites).toMatchObject([
      { sha256: suiteHash(named("earlier")), hostWide: true },
    ]);
    const planned = { suiteId: "acme.evals.earlier", suiteVersion: "1.0.0", suiteSha256: suiteHash(own) };
    expect(await suiteAsOf(host.host, "t1", planned)).toEqual(own);
  });

  test("a suite of one tenant is nothing to another", async () => {
    await put(named("private"));
    expectError(await get("acme.evals.private@1.0.0", "other"), "not_found");
    expectError(await get("acme.evals.private", "other"), "not_found");
    expect((await list("?suiteId=acme.evals.private", "other")).suites).toEqual([]);
    expect((await get("acme.evals.private@1.0.0", "east")).statusCode).toBe(200);
  });

  test("the list goes on where the page before ended, and misses and repeats nothing", async () => {
    for (let i = 0; i < 5; i++) await put(named("paged", `1.0.${i}`));
    for (let i = 3; i < 8; i++) await keepForAll(named("paged", `1.0.${i}`));
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await list(`?suiteId=acme.evals.paged&limit=3${cursor}`);
      expect(matches(SuitePage, page)).toBe(true);
      seen.push(...page.suites.map(({ version, hostWide }) => `${version} ${hostWide}`));
      cursor = page.nextCursor === undefined ? "" : `&cursor=${encodeURIComponent(page.nextCursor)}`;
    } while (cursor !== "");
    expect(seen).toEqual(Array.from({ length: 8 }, (_, i) => `1.0.${i} ${i > 2}`));
  });

  test("whoever may not write, does not", async () => {
    expectError(await put(named("refused"), "viewer"), "forbidden");
    expectError(await put(named("refused"), "narrow"), "forbidden");
    expectError(await get("acme.evals.refused@1.0.0", "stranger"), "forbidden");
    expectError(await get("acme.evals.refused@1.0.0", "viewer"), "not_found");
  });
});

describe("what is refused", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await testHost({ settings: { maxRequestBodyBytes: 10_000, maxTapeBytes: 500_000 } });
  });
  afterAll(() => host.close());
  const put = (body: string | Buffer, ref = "acme.evals.x@1.0.0", headers = {}) =>
    host.ask("PUT", `${SUITES}/${ref}`, { body, headers });

  test("has all its problems told at once, with line and column, and nothing is kept", async () => {
    const answer = await put('{\n  "suiteId": "x",\n  "version": "one",\n  "modes": ["golden"],\n  "tasks": [{}]\n}');
    expectError(answer, "validation_error");
    expect(answer.json().details).toMatchObject({
      problemCount: 5,
      problems: [
        { code: "bad_name", path: "/suiteId", line: 2, column: 3 },
        { code: "bad_name", path: "/version", line: 3, column: 3 },
        { code: "missing_member", path: "/tasks/0", line: 5, column: 13 },
        { code: "missing_member", path: "/tasks/0" },
        { code: "missing_member", path: "/tasks/0" },
      ],
    });
    expect((await host.ask("GET", SUITES)).json()).toEqual({ suites: [] });
  });

  test("is a suite with a secret, which is not told again", async () => {
    const secret = `${"AKIA"}IOSFODNN7EXAMPLZ`;
    const answer = await put(JSON.stringify(named("x", "1.0.0", { tasks: [goldenTask("a", { input: secret })] })));
    expectError(answer, "validation_error");
    expect(answer.body).toContain("looks like a secret");
    expect(answer.body).not.toContain(secret);
  });

  test("is another name in the path, a name that is none, and a cursor of somebody else", async () => {
    const body = JSON.stringify(named("x"));
    for (const ref of ["acme.evals.y@1.0.0", "acme.evals.x@1.0.1", "acme.evals.x", "x", "acme.evals.x@1"]) {
      expectError(await put(body, ref), "validation_error");
    }
    expectError(await host.ask("GET", `${SUITES}/nonsense`), "validation_error");
    expectError(await host.ask("GET", `${SUITES}?cursor=abc`), "validation_error");
    expectError(await host.ask("GET", `${SUITES}?suiteId=Abc`), "validation_error");
  });

  test.each([
    ["", {}],
    ["not json", {}],
    ["[".repeat(50_000), {}],
    [Buffer.from([0x22, 0xff, 0x22]), {}],
    [`[${"0,".repeat(200_000)}0]`, {}],
  ])("is any other body: %.10s", async (body, headers) => {
    expectError(await put(body, undefined, headers), "validation_error");
  });

  test("is what is too long, or says that it is something else", async () => {
    expectError(await put(JSON.stringify({ x: "x".repeat(600_000) })), "payload_too_large");
    expectError(await put("{}", undefined, { "content-type": "text/plain" }), "unsupported_media_type");
  });

  test("is not a suite that is longer than other requests may be", async () => {
    const tasks = Array.from({ length: 1000 }, (_, i) => goldenTask(`task-${i}`));
    expect((await put(JSON.stringify(named("x", "1.0.0", { tasks })))).statusCode).toBe(201);
  });
});

test("where evaluations are switched off, there are no suites", async () => {
  const off = await testHost({ capabilities: ["feedback"] });
  try {
    for (const [method, url] of [
      ["GET", SUITES],
      ["GET", `${SUITES}/a.evals.b@1.0.0`],
      ["PUT", `${SUITES}/a.evals.b@1.0.0`],
    ] as const) {
      expectError(await off.ask(method, url, { as: "stranger" }), "not_found");
    }
  } finally {
    await off.close();
  }
});
