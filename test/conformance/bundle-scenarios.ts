import { describe, expect, test } from "vitest";
import { OutsideHost } from "./host.ts";
import { STRANGER } from "./keys.ts";

const CANARY = "sk-canary-rfc0056-do-not-leak-abc123";
const SEAM = "/v1/host/sample/test/debug-bundle/export";

/** A run to take away. */
export function bundleScenarios(host: () => OutsideHost): void {
  describe("a debug bundle", () => {
    test("has every field that the protocol requires, and the events that a poll gives", async () => {
      const runId = await host().begin("chain");
      await host().ends(runId);
      const { status, headers, json } = await host().ask("GET", `/v1/runs/${runId}/debug-bundle`);
      expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(json.bundleVersion).toMatch(/^[0-9]+\.[0-9]+$/);
      expect(Date.parse(json.generatedAt)).not.toBeNaN();
      expect(json.host).toEqual({ name: "assay", version: expect.any(String), vendor: expect.any(String) });
      expect(json.run).toMatchObject({ runId, workflowId: "chain", status: "completed" });
      expect(json.events).toEqual((await host().ask("GET", `/v1/runs/${runId}/events/poll`)).json.events);
      expect(json.metrics.eventCount).toBe(json.events.length);
      expect([json.redactionApplied, json.redactionMode]).toEqual([false, "mask"]);
      for (const { name, traceId, spanId } of json.spans) {
        expect([name.length > 0, /^[0-9a-f]{32}$/.test(traceId), /^[0-9a-f]{16}$/.test(spanId)]).toEqual([
          true,
          true,
          true,
        ]);
      }
    });

    test("is advertised where it is served, and so is its seam", async () => {
      const { json } = await host().ask("GET", "/.well-known/openwop", { key: "" });
      expect(json.debugBundle).toEqual({ supported: true });
      expect(json.observability.testSeams.debugBundleExport).toBe(true);
    });

    test("does not repeat a secret that came as an input, a note or a correction", async () => {
      const runId = await host().begin("echo", { inputs: { payload: { token: CANARY, list: [`Bearer ${CANARY}`] } } });
      await host().ends(runId);
      const body = { signal: { kind: "correction", correction: CANARY }, note: CANARY };
      expect((await host().ask("POST", `/v1/runs/${runId}/annotations`, { body })).status).toBe(201);
      for (const answer of [
        await host().ask("GET", `/v1/runs/${runId}/debug-bundle`),
        await host().ask("POST", SEAM, { body: { runId } }),
      ]) {
        expect(answer.status).toBe(200);
        expect(answer.text).not.toContain(CANARY);
        expect(answer.json.redactionApplied).toBe(true);
        expect(answer.json.annotations).toHaveLength(1);
      }
    });

    test("does not repeat a credential that the run was given, or what its workflow declares secret", async () => {
      const [byShape, byName, declared] = ["cred_7Hq2", "the key called tuesday", "a plain declared word"];
      const runId = await host().begin("echo-declared", {
        inputs: { payload: { use: byShape, said: `pin ${declared}` }, pin: declared },
        configurable: { ai: { credentialRef: byName } },
        metadata: { from: [byShape, byName], pin: declared },
        tags: [byShape],
      });
      await host().ends(runId);
      for (const note of [byShape, byName, declared]) {
        const body = { signal: { kind: "correction", correction: note }, note: `it said ${note}` };
        expect((await host().ask("POST", `/v1/runs/${runId}/annotations`, { body })).status).toBe(201);
      }
      const { text, json } = await host().ask("GET", `/v1/runs/${runId}/debug-bundle`);
      expect(json.annotations).toHaveLength(3);
      for (const secret of [byShape, byName, declared]) expect(text).not.toContain(secret);
    });

    test("does not repeat an option that its workflow's schema declares secret", async () => {
      const [door, code, from] = ["a plain door word", 271828, "desk-7"];
      const runId = await host().begin("echo-options", {
        inputs: { payload: { said: `open with ${door}`, code } },
        configurable: { door, mail: { code, from } },
      });
      await host().ends(runId);
      const bundle = await host().ask("GET", `/v1/runs/${runId}/debug-bundle`);
      expect(bundle.json.run.configurable).toEqual({ door: "[REDACTED]", mail: { code: "[REDACTED]", from } });
      for (const { text } of [bundle, await host().ask("GET", `/v1/runs/${runId}`)]) {
        expect(text).toContain(from);
        for (const secret of [door, String(code)]) expect(text).not.toContain(secret);
      }
    });

    test("has spans in lower case that are named for what they are", async () => {
      const runId = await host().begin("failing");
      await host().ends(runId);
      const { spans } = (await host().ask("GET", `/v1/runs/${runId}/debug-bundle`)).json;
      const seen = spans.map((span: { name: string; kind: string; status: object }) => [
        span.name,
        span.kind,
        span.status,
      ]);
      expect(seen).toEqual([
        ["openwop.run", "internal", { code: "error" }],
        ["openwop.node.core.fail", "internal", { code: "error" }],
      ]);
      expect(spans[1].attributes["openwop.node_id"]).toBe("fail");
      expect(spans[1].parentSpanId).toBe(spans[0].spanId);
    });

    test("has spans that continue the trace of the request, which a fork does not inherit", async () => {
      const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
      const headers = { traceparent: `00-${traceId}-${spanId}-01` };
      const started = await host().ask("POST", "/v1/runs", { body: { workflowId: "chain" }, headers });
      const { runId } = started.json;
      await host().ends(runId);
      const spansOf = async (id: string) => (await host().ask("GET", `/v1/runs/${id}/debug-bundle`)).json.spans;
      const spans = await spansOf(runId);
      expect(spans[0].parentSpanId).toBe(spanId);
      for (const span of spans) expect(span.traceId).toBe(traceId);
      // The trace is the request's, and no part of what is replayed.
      expect(JSON.stringify(await host().events(runId))).not.toContain(traceId);
      const forked = await host().ask("POST", `/v1/runs/${runId}:fork`, { body: { mode: "replay" } });
      await host().ends(forked.json.runId);
      const [own] = await spansOf(forked.json.runId);
      expect([own.traceId === traceId, own.parentSpanId]).toEqual([false, undefined]);
      const malformed = { traceparent: `00-${traceId}-${"0".repeat(16)}-01` };
      const alone = await host().ask("POST", "/v1/runs", { body: { workflowId: "noop" }, headers: malformed });
      expect((await spansOf(alone.json.runId))[0].traceId).not.toBe(traceId);
    });

    test("is not for other tenants, nor for nobody", async () => {
      const runId = await host().begin("noop");
      const path = `/v1/runs/${runId}/debug-bundle`;
      expect((await host().ask("GET", path, { key: STRANGER })).status).toBe(404);
      expect((await host().ask("GET", path, { key: "" })).status).toBe(401);
      expect((await host().ask("POST", SEAM, { key: "", body: { runId } })).status).toBe(401);
      expect((await host().ask("POST", SEAM, { key: STRANGER, body: { runId } })).status).toBe(404);
    });

    test("is cut at the end of its events where they are too many, and not there when switched off", async () => {
      const other = await OutsideHost.start([], ["--bundle-max-bytes", "65536"]);
      try {
        const runId = await other.begin("echo", { inputs: { payload: { text: "x".repeat(12_000) } } });
        await other.ends(runId);
        const { json, text } = await other.ask("GET", `/v1/runs/${runId}/debug-bundle`);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
        expect([json.truncated, json.truncatedReason]).toEqual([true, "events_truncated_to_size_cap"]);
        expect(json.metrics.eventCount).toBe(json.events.length);
        expect(json.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([...json.events.keys()]);
      } finally {
        await other.stop();
      }
      const off = await OutsideHost.start([], ["--disable", "debugBundle"]);
      try {
        expect((await off.ask("GET", "/v1/runs/run-x/debug-bundle")).status).toBe(404);
        expect((await off.ask("GET", "/.well-known/openwop")).json.debugBundle).toBeUndefined();
      } finally {
        await off.stop();
      }
    });
  });
}
