import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Outbound } from "../../../src/engine/outbound/guard.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { type EvalServer, evalServer } from "../../../src/testing/eval-server.ts";
import { expectError } from "../../../src/testing/host.ts";
import { TEST_CERTIFICATE } from "../../../src/testing/test-certificate.ts";
import { WebhookReceiver } from "../../../src/testing/webhook-receiver.ts";

const PUBLIC = "assay.example.com";
const SUITES = "/v1/host/assay/suites";
const KEPT = suiteOf([goldenTask("a", "a")], { suiteId: "local.test.evals.kept" });
const FETCHED = JSON.stringify(suiteOf([goldenTask("b", "b")], { suiteId: "local.test.evals.fetched" }));
const DIGEST = createHash("sha256").update(FETCHED).digest("hex");

/** Trusts the certificate of the test, and finds every name on loopback. */
const OUTBOUND: Outbound = {
  allowPrivate: true,
  ca: TEST_CERTIFICATE,
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  timeoutMs: 5000,
  userAgent: "assay/test",
};

describe.each(HTTP_STORES)("a suite named by its URI on %s", (_, open) => {
  let host: EvalServer;
  let elsewhere: WebhookReceiver;
  let drop: () => Promise<void>;
  let isStrict = false;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    elsewhere = await WebhookReceiver.start("https");
    elsewhere.behave((response) => response.writeHead(200).end(FETCHED));
    const outbound: Outbound = {
      ...OUTBOUND,
      get allowPrivate() {
        return !isStrict;
      },
    };
    host = await evalServer(opened.store, {}, { host: { outbound }, settings: { publicUrl: `https://${PUBLIC}` } });
    await host.keep(KEPT);
  });
  afterAll(async () => {
    await host.close();
    await elsewhere.close();
    await drop();
  });

  const start = (evalSuiteRef: string) => host.start({ evalSuiteRef });
  const uri = (digest: string) => `${elsewhere.url("/suite.json", "hooks.example.com")}${digest}`;

  test("is found on this host by path, by its public address and by the one that was asked", async () => {
    const ref = `${KEPT.suiteId}@${KEPT.version}`;
    for (const own of [
      `${SUITES}/${ref}`,
      `https://${PUBLIC}${SUITES}/${ref}`,
      `https://${PUBLIC}${SUITES}/${encodeURIComponent(ref)}`,
      `http://localhost${SUITES}/${ref}`,
    ]) {
      const created = await start(own);
      expect(created.statusCode, own).toBe(201);
      const { runId } = created.json<{ runId: string }>();
      const entry = (await host.ask("GET", `/v1/host/assay/evals/${runId}`)).json();
      expect(entry).toMatchObject({ suiteId: KEPT.suiteId, suiteVersion: KEPT.version });
    }
    expectError(await start(`${SUITES}/local.test.evals.none@1.0.0`), "not_found");
    expectError(await start("/v1/workflows/x"), "validation_error");
  });

  test("is fetched by https where its digest is named, compared with that, and kept", async () => {
    const before = elsewhere.received.length;
    expect((await start(uri(`#sha256=${DIGEST}`))).statusCode).toBe(201);
    expect(elsewhere.received.length).toBe(before + 1);
    const kept = await host.ask("GET", `${SUITES}/local.test.evals.fetched@1.0.0`);
    expect(kept.body).toBe(FETCHED);
    expect((await start(uri(`#sha256=${DIGEST}`))).statusCode).toBe(201);
  });

  test("is refused without a digest, with another one, by plain http, and when it cannot be had", async () => {
    const refusal = async (ref: string) => {
      const answer = await start(ref);
      expectError(answer, "validation_error");
      return answer.json<{ message: string }>().message;
    };
    expect(await refusal(uri(""))).toContain("end the address with #sha256=");
    expect(await refusal(uri(`#sha256=${"0".repeat(64)}`))).toContain(`has the SHA-256 ${DIGEST}`);
    expect(await refusal(`http://hooks.example.com/s.json#sha256=${DIGEST}`)).toContain("https only");
    elsewhere.behave(404);
    expect(await refusal(uri(`#sha256=${DIGEST}`))).toContain("it answered 404");
    isStrict = true;
    expect(await refusal(`https://127.0.0.1/s.json#sha256=${DIGEST}`)).toContain("not a public one");
    isStrict = false;
    elsewhere.behave((response) => response.writeHead(200).end(FETCHED));
  });

  test("elsewhere takes the scope of those who may keep suites, since it is kept", async () => {
    const made = await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "ada", scopes: ["runs:create"] } });
    const authorization = `Bearer ${(made.json() as { key: string }).key}`;
    const evalSuiteRef = `https://suites.example/s.json#sha256=${DIGEST}`;
    const json = { mode: "eval", evalSuiteRef, agentId: "local.test.any" };
    const refused = await host.app.inject({
      method: "POST",
      url: "/v1/runs",
      headers: { authorization },
      payload: json,
    });
    expect(expectError(refused, "forbidden")).toMatchObject({ scopeRequired: "suites:write" });
  });
});
