import { expect, test } from "vitest";
import { deliveriesOn } from "../../../src/testing/deliveries.ts";
import { until } from "../../../src/testing/engine.ts";
import { expectError, testHost } from "../../../src/testing/host.ts";
import { type Received, WebhookReceiver } from "../../../src/testing/webhook-receiver.ts";
import { ended } from "../../../src/testing/workbench.ts";
import { workflow } from "../../../src/testing/workflow.ts";

test("a run's callback brings all that is needed to answer its gate, without a key and once", async () => {
  const host = await testHost({ worker: true });
  const receiver = await WebhookReceiver.start();
  const deliveries = deliveriesOn(host.host, { publicUrl: await host.listen() });
  await host.ask("POST", "/v1/workflows", { json: workflow({ id: "gate", nodes: { ask: "core.approvalGate" } }) });
  const json = { workflowId: "gate", callbackUrl: receiver.url() };
  const { runId } = (await host.ask("POST", "/v1/runs", { json })).json();
  const [{ body }] = (await receiver.got(1)) as readonly [Received];

  const answer = () =>
    fetch(JSON.parse(body).callbackUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ resumeValue: { action: "accept" } }),
    });
  expect((await answer()).status).toBe(200);
  expect(await until(host.store, runId, ended)).toMatchObject({ status: "completed" });
  expect((await answer()).status).toBe(409);
  await deliveries.stop(0);
  await receiver.close();
  await host.close();
});

test("a run whose callbackUrl nothing may be sent to is not started", async () => {
  const host = await testHost();
  const guarded = await testHost({
    store: host.store,
    host: { outbound: { ...host.host.outbound, allowPrivate: false } },
  });
  const ask = (callbackUrl: string) => guarded.ask("POST", "/v1/runs", { json: { workflowId: "noop", callbackUrl } });
  for (const url of ["http://hooks.example.com/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/"]) {
    expectError(await ask(url), "webhook_url_rejected");
  }
  expectError(await ask("ftp://hooks.example.com/"), "validation_error");
  expectError(await ask("https://"), "validation_error");
  expect(await host.store.countRuns()).toEqual({});
  await guarded.app.close();
  await host.close();
});

test("a key that may not answer gates cannot have their tokens sent to itself", async () => {
  const host = await testHost();
  const scopes = ["runs:create", "runs:read"];
  const made = await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "bot", roles: ["owner"], scopes } });
  const headers = { authorization: `Bearer ${made.json().key}` };
  const json = { workflowId: "noop", callbackUrl: "https://8.8.8.8/" };
  expectError(await host.ask("POST", "/v1/runs", { json, headers }), "forbidden");
  expect(await host.store.countRuns()).toEqual({});
  expect((await host.ask("POST", "/v1/runs", { json: { workflowId: "noop" }, headers })).statusCode).toBe(201);
  expect((await host.ask("POST", "/v1/runs", { json })).statusCode).toBe(201);
  await host.close();
});
