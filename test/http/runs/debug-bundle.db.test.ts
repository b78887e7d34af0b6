import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../../src/protocol/operation.ts";
import { DebugBundle } from "../../../src/protocol/runs/bundle-api.ts";
import { parse } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { until } from "../../../src/testing/engine.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { CANARIES, readableIn } from "../../../src/testing/secret-canaries.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const CAP = 65_536;
const SEAM = "/v1/host/sample/test/debug-bundle/export";

const IDENTITY = workflow({
  id: "pass-on",
  nodes: { a: { typeId: "core.identity", inputs: { word: { type: "variable", variableName: "word" } } as never } },
  variables: [{ name: "word", type: "object" }] as never,
});
const PIN = workflow({
  ...(IDENTITY as object),
  id: "pin",
  nodes: { a: "core.noop" },
  variables: [{ name: "pin", type: "string", sensitive: true }] as never,
});
const LONG = workflow({
  id: "long",
  nodes: Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`n${i}`, "core.noop"])),
  edges: Array.from({ length: 149 }, (_, i) => `n${i}>n${i + 1}`),
});

describe.each(HTTP_STORES)("on %s", (_, open) => {
  let host: TestHost;
  let small: TestHost;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    // The same database, seen by a host whose bundles are small.
    const store = { ...opened.store, close: async () => {} };
    small = await testHost({ store, host: { bundles: { maxBytes: CAP } } });
    for (const json of [IDENTITY, PIN, LONG]) await host.ask("POST", "/v1/workflows", { json });
  });
  afterAll(async () => {
    await small.close();
    await host.close();
    await drop();
  });

  async function ended(workflowId: string, inputs: object = {}, as: Who = "owner"): Promise<string> {
    const created = await host.ask("POST", "/v1/runs", { as, json: { workflowId, inputs } });
    expect(created.statusCode, created.payload).toBe(201);
    const { runId } = created.json();
    await until(host.store, runId, ({ endedAt }) => endedAt !== undefined);
    return runId;
  }

  async function annotate(runId: string, json: object): Promise<void> {
    const answer = await host.ask("POST", `/v1/runs/${runId}/annotations`, { json });
    expect(answer.statusCode, answer.payload).toBe(201);
  }

  async function bundleOf(runId: string, from: TestHost = host): Promise<{ bundle: DebugBundle; text: string }> {
    const answer = await from.ask("GET", `/v1/runs/${runId}/debug-bundle`);
    expect(answer.statusCode, answer.payload.slice(0, 300)).toBe(200);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const bundle = parse(DebugBundle, answer.json(), "bundle");
    expect(bundle.metrics.eventCount).toBe(bundle.events.length);
    return { bundle, text: answer.payload };
  }

  async function polled(runId: string): Promise<unknown[]> {
    return (await host.ask("GET", `/v1/runs/${runId}/events/poll`)).json().events;
  }

  describe("the bundle of a run", () => {
    test("holds the snapshot, what the run began with, the log as it is polled, and what was said about it", async () => {
      const runId = await ended("pass-on", { word: { text: "hello" } });
      await annotate(runId, { signal: { kind: "rating", rating: 2 }, note: "too short" });
      await annotate(runId, { signal: { kind: "flag" }, target: { nodeId: "a" } });
      const { bundle } = await bundleOf(runId);
      const snapshot = (await host.ask("GET", `/v1/runs/${runId}`)).json();
      const { inputs, endedAt, ...run } = bundle.run;
      expect(run).toEqual(snapshot);
      expect(inputs).toEqual({ word: { text: "hello" } });
      expect(endedAt).toBe(snapshot.completedAt);
      expect(bundle.events).toEqual(await polled(runId));
      expect(bundle.annotations).toEqual((await host.ask("GET", `/v1/runs/${runId}/annotations`)).json().annotations);
      expect(bundle.annotations).toHaveLength(2);
      expect(bundle).toMatchObject({
        bundleVersion: "1.0",
        host: { name: "assay", version: "0.0.0-test" },
        metrics: { openwopCost: null, nodeCount: 1 },
        redactionApplied: false,
        redactionMode: "mask",
      });
      expect(bundle).not.toHaveProperty("truncated");
    });

    test("has a span for the run and one below it for every attempt", async () => {
      const runId = await ended("pass-on", { word: { text: "hello" } });
      const { spans } = (await bundleOf(runId)).bundle;
      const [whole, node] = spans;
      expect(spans).toHaveLength(2);
      expect(whole).toMatchObject({
        name: "openwop.run",
        status: { code: "ok" },
        attributes: { "openwop.run_id": runId },
      });
      expect(node).toMatchObject({
        name: expect.stringMatching(/^openwop\.node\.core\.\w+$/),
        parentSpanId: whole?.spanId,
        traceId: whole?.traceId,
      });
      expect((await bundleOf(runId)).bundle.spans).toEqual(spans);
    });

    test("of a run that still goes on says what there is", async () => {
      const created = await small.ask("POST", "/v1/runs", { json: { workflowId: "noop", tags: ["early"] } });
      const { bundle } = await bundleOf(created.json().runId, small);
      expect(bundle.events.length).toBeGreaterThan(0);
      expect(bundle.spans[0]?.name).toBe("openwop.run");
    });

    test("has nothing of other runs, and nothing of the machines and keys behind it", async () => {
      await ended("pass-on", { word: { text: "a-word-of-another-run" } });
      const runId = await ended("pass-on", { word: { text: "mine" } });
      const { text } = await bundleOf(runId);
      expect(text).not.toContain("a-word-of-another-run");
      expect(text).not.toMatch(/lease|worker-|keyId|hostname|:memory:|postgres/i);
    });
  });

  describe("a secret", () => {
    test("of no shape is in a bundle, wherever it was in the run", async () => {
      const words = CANARIES.map(({ text }) => text);
      const word = {
        plain: words,
        lines: words.join("\n"),
        json: JSON.stringify(words),
        url: words.map(encodeURIComponent),
      };
      const named = Object.fromEntries(words.map((text, i) => [text, i]));
      const runId = await ended("pass-on", { word: { ...word, named } });
      await annotate(runId, { signal: { kind: "correction", correction: words.join(" ") }, note: words.join("\n") });
      const { bundle, text } = await bundleOf(runId);
      expect(readableIn(text)).toEqual([]);
      expect(bundle.redactionApplied).toBe(true);
      expect(bundle.events).toHaveLength((await polled(runId)).length);
    });

    test.each(CANARIES.map(({ text }) => text))("in an error is not in the bundle: %s", async (message) => {
      const id = `fail-${CANARIES.findIndex(({ text }) => text === message)}`;
      const json = workflow({
        id,
        nodes: { a: { typeId: "core.fail", config: { message: `it was ${message}` } as never } },
      });
      await host.ask("POST", "/v1/workflows", { json });
      const { text, bundle } = await bundleOf(await ended(id));
      expect(readableIn(text)).toEqual([]);
      expect(bundle.run.error?.message).toContain("[REDACTED]");
    });

    test("that the workflow declares is masked, and the bundle says that it masks", async () => {
      const { bundle, text } = await bundleOf(await ended("pin", { pin: "8341-4711" }));
      expect(text).not.toContain("8341-4711");
      expect(bundle).toMatchObject({ redactionApplied: true, redactionMode: "mask" });
    });
  });

  describe("a run that is larger than a bundle may be", () => {
    test("loses events from the end, and the rest is whole", async () => {
      const runId = await ended("long");
      const { bundle, text } = await bundleOf(runId, small);
      const log = await polled(runId);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CAP);
      expect(Buffer.byteLength(text)).toBeGreaterThan(CAP - 4096);
      expect(bundle).toMatchObject({ truncated: true, truncatedReason: "events_truncated_to_size_cap" });
      expect(bundle.events).toEqual(log.slice(0, bundle.events.length));
      expect(bundle.events.length).toBeLessThan(log.length);
      const begun = bundle.events.filter(({ type }) => type === "node.started" || type === "run.started");
      expect(bundle.spans).toHaveLength(begun.length);
      expect((await bundleOf(runId)).bundle.events).toEqual(log);
    });

    test("leaves out the parts of its state that have no room, and says so", async () => {
      const runId = await ended("pass-on", { word: { text: "x".repeat(CAP) } });
      const { bundle, text } = await bundleOf(runId, small);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CAP);
      expect(bundle).toMatchObject({ truncated: true, truncatedReason: "state_omitted_to_size_cap" });
      expect(bundle.run).toMatchObject({ runId, workflowId: "pass-on", status: "completed" });
      expect(bundle.run).not.toHaveProperty("inputs");
      expect(bundle.run).not.toHaveProperty("variables");
    });

    test("loses annotations from the end before it loses its state", async () => {
      const runId = await ended("pass-on", { word: { text: "hello" } });
      for (let i = 0; i < 5; i++) {
        await annotate(runId, { signal: { kind: "label", label: String(i) }, note: `${i} ${"é".repeat(8000)}` });
      }
      const { bundle, text } = await bundleOf(runId, small);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(CAP);
      expect(bundle).toMatchObject({ truncated: true, truncatedReason: "annotations_truncated_to_size_cap" });
      expect(bundle.annotations.map(({ signal }) => signal.label)).toEqual(["0", "1", "2"]);
      expect(bundle.run.variables).toEqual({ word: { text: "hello" } });
    });
  });

  test("the seam gives the same bundle, to those who may see the run", async () => {
    const runId = await ended("pass-on", { word: { text: "hello" } });
    const answer = await host.ask("POST", SEAM, { json: { runId } });
    const { generatedAt: _, ...seen } = answer.json();
    const { generatedAt: __, ...bundle } = (await bundleOf(runId)).bundle;
    expect(seen).toEqual(bundle);
    expectError(await host.ask("POST", SEAM, { as: "other", json: { runId } }), "not_found");
    expectError(await host.ask("POST", SEAM, { json: {} }), "validation_error");
  });

  test("a run that the caller cannot see has none", async () => {
    const runId = await ended("pass-on", { word: { text: "hello" } });
    expectError(await host.ask("GET", `/v1/runs/${runId}/debug-bundle`, { as: "other" }), "not_found");
    expectError(await host.ask("GET", `/v1/runs/${runId}/debug-bundle`, { as: "stranger" }), "forbidden");
    expectError(await host.ask("GET", "/v1/runs/run-nowhere/debug-bundle"), "not_found");
  });
});

test("where bundles are switched off there are none, whichever run is asked for, and nothing says otherwise", async () => {
  const off = await testHost({ capabilities: CAPABILITIES.filter((capability) => capability !== "debugBundle") });
  const runId = await off.newRun();
  expectError(await off.ask("GET", `/v1/runs/${runId}/debug-bundle`), "not_found");
  expectError(await off.ask("GET", "/v1/runs/run-nowhere/debug-bundle"), "not_found");
  expectError(await off.ask("POST", SEAM, { json: { runId } }), "not_found");
  const { debugBundle, observability } = (await off.ask("GET", "/.well-known/openwop")).json();
  expect([debugBundle, observability]).toEqual([undefined, undefined]);
  await off.close();
});

test("where they are served discovery says so", async () => {
  const on = await testHost();
  expect((await on.ask("GET", "/.well-known/openwop")).json()).toMatchObject({
    debugBundle: { supported: true },
    observability: { testSeams: { debugBundleExport: true } },
  });
  await on.close();
});
