import { createHash, createPublicKey, verify } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OutsideHost, OWNER, READER, STRANGER } from "./host.ts";

/** What an OpenWOP 1.x suite would try from outside: core, streams, idempotency, cancellation, pause, limits, audit. */
export function conformance(name: string, database: () => Promise<readonly string[]>): void {
  describe(`a host on ${name}, seen from outside`, () => {
    let host: OutsideHost;
    beforeAll(async () => {
      host = await OutsideHost.start(await database());
    }, 60_000);
    afterAll(() => host.stop());

    const terminal = (runId: string) => host.reaches(runId, "completed", "failed", "cancelled");
    const types = async (runId: string) => (await host.events(runId)).map((event) => event.type);

    describe("discovery", () => {
      test("is public, cacheable, and has its families at the root", async () => {
        const { status, headers, json } = await host.ask("GET", "/.well-known/openwop", { key: "" });
        expect(status).toBe(200);
        expect(headers.get("cache-control")).toContain("max-age");
        expect(json.protocolVersion).toMatch(/^1\.\d+$/);
        expect(json.capabilities).toBeUndefined();
        expect(json.limits).toMatchObject({ clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 });
        expect(json.fixtures).toContain("noop");
        expect(JSON.stringify(json)).not.toMatch(/"edit"/);
      });

      test("answers 304 to its own ETag", async () => {
        const { headers } = await host.ask("GET", "/.well-known/openwop", { key: "" });
        const again = await host.ask("GET", "/.well-known/openwop", {
          headers: { "if-none-match": headers.get("etag") ?? "" },
        });
        expect(again.status).toBe(304);
      });

      test("comes with an OpenAPI and an AsyncAPI document", async () => {
        expect((await host.ask("GET", "/v1/openapi.json", { key: "" })).json.openapi).toMatch(/^3\.1/);
        expect((await host.ask("GET", "/v1/asyncapi.json", { key: "" })).json.asyncapi).toMatch(/^3\./);
      });
    });

    describe("errors", () => {
      test.each([
        ["no key", "GET", "/v1/runs/run-x", { key: "" }, 401, "unauthenticated"],
        ["an unknown key", "GET", "/v1/runs/run-x", { key: "who-is-this-anyway" }, 401, "unauthenticated"],
        [
          "a key without the scope",
          "POST",
          "/v1/runs",
          { key: READER, body: { workflowId: "noop" } },
          403,
          "forbidden",
        ],
        ["an unknown run", "GET", "/v1/runs/run-x", {}, 404, "not_found"],
        ["an unknown route", "GET", "/v1/nothing-here", {}, 404, "not_found"],
        ["an unversioned path", "GET", "/runs", {}, 400, "unversioned_path"],
        ["an unknown verb", "POST", "/v1/runs/run-x:explode", { body: {} }, 404, "not_found"],
        ["malformed JSON", "POST", "/v1/runs", { body: '{"workflowId":' }, 400, "validation_error"],
        ["an unknown field", "POST", "/v1/runs", { body: { workflowId: "noop", color: 1 } }, 400, "validation_error"],
        ["an unknown workflow", "POST", "/v1/runs", { body: { workflowId: "no-such" } }, 400, "validation_error"],
        [
          "a foreign tenant",
          "POST",
          "/v1/runs",
          { body: { workflowId: "noop", tenantId: "t2" } },
          403,
          "tenant_mismatch",
        ],
        ["eval mode", "POST", "/v1/runs", { body: { mode: "eval" } }, 501, "capability_not_provided"],
        ["annotations", "POST", "/v1/runs/run-x/annotations", { body: {} }, 501, "capability_not_provided"],
        [
          "a bad option",
          "POST",
          "/v1/runs",
          { body: { workflowId: "strict-options", configurable: { x: 1 } } },
          400,
          "validation_error",
        ],
      ])("%s: the envelope with the right status and code", async (_, method, path, more, status, code) => {
        const answer = await host.ask(method, path, more);
        expect(answer.status).toBe(status);
        expect(answer.json.error).toBe(code);
        expect(answer.json.message).toEqual(expect.any(String));
        expect(Object.keys(answer.json).filter((key) => !["error", "message", "details"].includes(key))).toEqual([]);
      });
    });

    describe("a run", () => {
      test("starts, executes and completes, and its log says so in order", async () => {
        const created = await host.ask("POST", "/v1/runs", { body: { workflowId: "noop" } });
        expect(created.status).toBe(201);
        expect(created.json.runId).toMatch(/^run-/);
        const { runId, eventsUrl } = created.json;
        expect(eventsUrl).toContain(runId);
        expect((await terminal(runId)).status).toBe("completed");
        const events = await host.events(runId);
        expect(events.map((event) => event.sequence)).toEqual(events.map((_, i) => i));
        expect(events.map((event) => event.type)).toEqual([
          "run.started",
          "node.started",
          "node.completed",
          "run.completed",
        ]);
      });

      test("gives its inputs back unchanged", async () => {
        const payload = { text: "ü€😀", list: [1, null, { deep: true }], n: 1.5e-7 };
        const run = await terminal(await host.begin("echo", { inputs: { payload } }));
        expect(run.variables.payload).toEqual(payload);
      });

      test("completes its nodes in the order of the edges", async () => {
        const runId = await host.begin("chain");
        await terminal(runId);
        const done = (await host.events(runId)).filter((event) => event.type === "node.completed");
        expect(done.map((event) => event.nodeId)).toEqual(["a", "b", "c"]);
      });

      test("that fails says why, in its log and in its snapshot", async () => {
        const runId = await host.begin("failing");
        const run = await terminal(runId);
        expect(run).toMatchObject({ status: "failed", error: { code: "node_failed", message: expect.any(String) } });
        expect((await types(runId)).slice(-2)).toEqual(["node.failed", "run.failed"]);
      });

      test("whose node needs what nobody provides fails with the capability's name", async () => {
        const run = await terminal(await host.begin("missing"));
        expect(run.error.code).toBe("capability_not_provided");
        expect(run.error.message).toContain("conformance.never-provided");
      });

      test("over its limit of node executions fails with the breach recorded", async () => {
        const runId = await host.begin("chain", { configurable: { recursionLimit: 2 } });
        expect((await terminal(runId)).error.code).toBe("recursion_limit_exceeded");
        const events = await host.events(runId);
        expect(events.find((event) => event.type === "cap.breached").payload).toMatchObject({
          kind: "node-executions",
          limit: 2,
          observed: 3,
        });
        expect(events.filter((event) => event.type === "node.started")).toHaveLength(2);
      });

      test("over its time fails with the breach recorded", async () => {
        const more = { inputs: { delayMs: 60_000 }, configurable: { runTimeoutMs: 200 } };
        const runId = await host.begin("sleep", more);
        expect((await terminal(runId)).error.code).toBe("run_timeout");
        const breach = (await host.events(runId)).find((event) => event.type === "cap.breached");
        expect(breach.payload.observed).toBeGreaterThan(breach.payload.limit);
      });

      test("of another tenant does not exist on any surface", async () => {
        const runId = await host.begin("noop");
        for (const path of ["", "/events", "/events/poll", "/artifacts/a1"]) {
          expect((await host.ask("GET", `/v1/runs/${runId}${path}`, { key: STRANGER })).status).toBe(404);
        }
        for (const path of ["/cancel", ":pause", ":resume"]) {
          expect((await host.ask("POST", `/v1/runs/${runId}${path}`, { key: STRANGER, body: {} })).status).toBe(404);
        }
        const seam = await host.ask("GET", `/v1/host/sample/test/runs/${runId}/events`, { key: STRANGER });
        expect(seam.json).toEqual({ events: [] });
      });

      test("is known by its ETag until something happens", async () => {
        const runId = await host.begin("noop");
        await terminal(runId);
        const { headers } = await host.ask("GET", `/v1/runs/${runId}`);
        const known = { "if-none-match": headers.get("etag") ?? "" };
        expect((await host.ask("GET", `/v1/runs/${runId}`, { headers: known })).status).toBe(304);
      });
    });

    describe("idempotency", () => {
      test("replays the first answer byte for byte, and refuses another body", async () => {
        const headers = { "idempotency-key": "the-same-key" };
        const first = await host.ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } });
        const again = await host.ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } });
        expect(again.status).toBe(201);
        expect(again.text).toBe(first.text);
        expect(again.headers.get("openwop-idempotent-replay")).toBe("true");
        expect(first.headers.get("openwop-idempotent-replay")).toBeNull();
        const other = await host.ask("POST", "/v1/runs", { headers, body: { workflowId: "chain" } });
        expect([other.status, other.json.error]).toEqual([409, "idempotency_key_mismatch"]);
      });

      test("makes one run of twenty requests at once", async () => {
        const headers = { "idempotency-key": "twenty-at-once" };
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => host.ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } })),
        );
        const created = answers.filter((answer) => answer.status === 201);
        expect(new Set(created.map((answer) => answer.json.runId)).size).toBe(1);
        for (const answer of answers) expect([201, 409]).toContain(answer.status);
      });

      test("is each tenant's own", async () => {
        const headers = { "idempotency-key": "whose-is-it" };
        const body = { workflowId: "noop" };
        const mine = await host.ask("POST", "/v1/runs", { headers, body });
        const theirs = await host.ask("POST", "/v1/runs", { headers, body, key: STRANGER });
        expect(theirs.json.runId).not.toBe(mine.json.runId);
      });

      test("does not keep what failed validation", async () => {
        const headers = { "idempotency-key": "fix-it-and-retry" };
        expect((await host.ask("POST", "/v1/runs", { headers, body: { workflowId: "no-such" } })).status).toBe(400);
        expect((await host.ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } })).status).toBe(201);
      });
    });

    describe("cancelling", () => {
      test("ends a sleeping run, and its last event is run.cancelled", async () => {
        const runId = await host.begin("sleep", { inputs: { delayMs: 60_000 } });
        await host.reaches(runId, "running");
        const cancelled = await host.ask("POST", `/v1/runs/${runId}/cancel`, { body: { reason: "enough" } });
        expect(cancelled.status).toBe(200);
        expect(["cancelling", "cancelled"]).toContain(cancelled.json.status);
        expect((await terminal(runId)).status).toBe("cancelled");
        expect((await host.events(runId)).at(-1)).toMatchObject({
          type: "run.cancelled",
          payload: { reason: "enough" },
        });
      });

      test("a run that has ended changes nothing", async () => {
        const runId = await host.begin("noop");
        await terminal(runId);
        const before = await host.events(runId);
        const answer = await host.ask("POST", `/v1/runs/${runId}/cancel`, { body: {} });
        expect([answer.status, answer.json.status]).toEqual([200, "completed"]);
        expect(await host.events(runId)).toEqual(before);
      });

      test("in bulk answers for each id, in order", async () => {
        const asleep = await host.begin("sleep", { inputs: { delayMs: 60_000 } });
        const done = await host.begin("noop");
        await terminal(done);
        const { status, json } = await host.ask("POST", "/v1/runs:bulk-cancel", {
          body: { runIds: [asleep, "run-x", done] },
        });
        expect(status).toBe(200);
        expect(json.results.map((one: { ok: boolean }) => one.ok)).toEqual([true, false, false]);
        expect(json.results.map((one: { runId: string }) => one.runId)).toEqual([asleep, "run-x", done]);
        expect(json.results[2].error.error).toBe("run_terminal");
        const many = await host.ask("POST", "/v1/runs:bulk-cancel", { body: { runIds: Array(101).fill("run-x") } });
        expect([many.status, many.json.details.maxRunIds]).toEqual([400, 100]);
      });
    });

    describe("pausing", () => {
      test("drains the current node, stays paused, and goes on when resumed", async () => {
        const runId = await host.begin("sleep-then-go");
        await host.reaches(runId, "running");
        const headers = { "idempotency-key": `pause-${runId}` };
        const paused = await host.ask("POST", `/v1/runs/${runId}:pause`, { body: {}, headers });
        expect([paused.status, paused.json.status]).toEqual([202, "paused"]);
        expect((await host.ask("POST", `/v1/runs/${runId}:pause`, { body: {}, headers })).text).toBe(paused.text);
        const second = await host.ask("POST", `/v1/runs/${runId}:pause`, { body: {} });
        expect([second.status, second.json.details.runStatus]).toEqual([409, "paused"]);
        await host.reaches(runId, "paused");
        expect((await types(runId)).slice(-2)).toEqual(["node.completed", "run.paused"]);
        const resumed = await host.ask("POST", `/v1/runs/${runId}:resume`, { body: {} });
        expect([resumed.status, resumed.json.status]).toEqual([202, "running"]);
        expect((await terminal(runId)).status).toBe("completed");
      });

      test("at once leaves the attempt open, and resuming starts a fresh one", async () => {
        // Long enough to be seen running on a busy machine.
        const runId = await host.begin("sleep", { inputs: { delayMs: 1500 } });
        await host.reaches(runId, "running");
        const paused = await host.ask("POST", `/v1/runs/${runId}:pause`, { body: { drainPolicy: "immediate" } });
        expect(paused.json.pausedAt).toEqual(expect.any(String));
        expect((await types(runId)).at(-1)).toBe("run.paused");
        await host.ask("POST", `/v1/runs/${runId}:resume`, { body: {} });
        await terminal(runId);
        const attempts = (await host.events(runId)).filter((event) => event.type === "node.started");
        expect(attempts.map((event) => event.payload.attempt)).toEqual([0, 1]);
      });

      test("is refused in the wrong state, naming it", async () => {
        const runId = await host.begin("noop");
        await terminal(runId);
        for (const verb of ["pause", "resume"]) {
          const answer = await host.ask("POST", `/v1/runs/${runId}:${verb}`, { body: {} });
          expect([answer.status, answer.json.details.runStatus]).toEqual([409, "completed"]);
        }
      });
    });

    describe("streams", () => {
      test("carry backlog and live events once, in order, and close at the end", async () => {
        const runId = await host.begin("sleep-then-go");
        const frames = await host.frames(`/v1/runs/${runId}/events?streamMode=debug`);
        const log = await host.events(runId);
        expect(frames.map((frame) => JSON.parse(frame.data))).toEqual(log);
        expect(frames.map((frame) => frame.id)).toEqual(log.map((event) => String(event.sequence)));
      });

      test("carry updates by default: outcomes, not starts", async () => {
        const runId = await host.begin("chain");
        const frames = await host.frames(`/v1/runs/${runId}/events`);
        expect(frames.map((frame) => frame.event)).toEqual([
          "run.started",
          "node.completed",
          "node.completed",
          "node.completed",
          "run.completed",
        ]);
      });

      test("in mode values end with the very snapshot", async () => {
        const runId = await host.begin("sleep-then-go");
        const frames = await host.frames(`/v1/runs/${runId}/events?streamMode=values`);
        expect(new Set(frames.map((frame) => frame.event))).toEqual(new Set(["state.snapshot"]));
        expect(frames.at(-1)?.data).toBe((await host.ask("GET", `/v1/runs/${runId}`)).text);
      });

      test("in mixed modes keep the order and name the mode", async () => {
        const runId = await host.begin("chain");
        const frames = await host.frames(`/v1/runs/${runId}/events?streamMode=updates,debug`);
        const sequences = frames.map((frame) => Number(frame.id));
        expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
        expect(frames.every((frame) => ["updates", "debug"].includes(frame.event ?? ""))).toBe(true);
      });

      test("resume after Last-Event-ID, exclusively", async () => {
        const runId = await host.begin("chain");
        await terminal(runId);
        const log = await host.events(runId);
        for (let last = 0; last < log.length; last++) {
          const frames = await host.frames(`/v1/runs/${runId}/events?streamMode=debug`, {
            "last-event-id": String(last),
          });
          expect(frames.map((frame) => Number(frame.id))).toEqual(log.slice(last + 1).map((event) => event.sequence));
        }
      });

      test("batch what comes within bufferMs", async () => {
        const runId = await host.begin("chain");
        const frames = await host.frames(`/v1/runs/${runId}/events?bufferMs=500`);
        expect(new Set(frames.map((frame) => frame.event))).toEqual(new Set(["batch"]));
        const all = frames.flatMap((frame) => JSON.parse(frame.data));
        expect(all.at(-1).type).toBe("run.completed");
        expect(frames.at(-1)?.id).toBe(String(all.at(-1).sequence));
      });

      test.each([
        ["streamMode=everything", "unsupported_stream_mode"],
        ["streamMode=values,updates", "unsupported_stream_mode"],
        ["bufferMs=5001", "validation_error"],
        ["bufferMs=-1", "validation_error"],
        ["bufferMs=soon", "validation_error"],
      ])("refuse %s", async (query, code) => {
        const runId = await host.begin("noop");
        const answer = await host.ask("GET", `/v1/runs/${runId}/events?${query}`);
        expect([answer.status, answer.json.error]).toEqual([400, code]);
      });

      test("are one JSON document for those who ask for JSON", async () => {
        const runId = await host.begin("noop");
        await terminal(runId);
        const { json } = await host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
        expect(json).toEqual({ events: await host.events(runId) });
      });

      test("can be polled: after a cursor, past the end, and identically once the run has ended", async () => {
        const runId = await host.begin("noop");
        await terminal(runId);
        const poll = (query: string) => host.ask("GET", `/v1/runs/${runId}/events/poll?${query}`);
        expect((await poll("lastSequence=1")).json.events.map((event: { sequence: number }) => event.sequence)).toEqual(
          [2, 3],
        );
        expect((await poll("lastSequence=99")).json).toMatchObject({
          events: [],
          isComplete: true,
          isTerminal: true,
          lastSequence: 3,
        });
        expect((await poll("lastSequence=0")).text).toBe((await poll("lastSequence=0")).text);
        expect((await poll("timeout=0")).status).toBe(400);
        expect((await poll("lastSequence=x")).status).toBe(400);
      });
    });

    describe("the audit log", () => {
      test("verifies, and its checkpoints are signed with the key that discovery publishes", async () => {
        const path = "/v1/audit/verify?fromSeq=0&toSeq=1000000";
        const { status, json } = await host.ask("GET", path);
        expect(status).toBe(200);
        expect(json).toMatchObject({
          fromSeq: 0,
          toSeq: 1_000_000,
          chainValid: true,
          checkpointsValid: true,
          anomalies: [],
        });
        const discovery = (await host.ask("GET", "/.well-known/openwop")).json;
        const der = Buffer.from(discovery.auth.auditLogIntegrity.checkpointPublicKey, "base64");
        const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
        expect(json.checkpoints.length).toBeGreaterThan(0);
        for (const { merkleRoot, signature } of json.checkpoints) {
          const root = Buffer.from(merkleRoot, "hex");
          expect(verify(null, root, publicKey, Buffer.from(signature, "base64"))).toBe(true);
        }
      });

      test("can be recomputed by anybody from its entries", async () => {
        const { json } = await host.ask("GET", "/v1/host/assay/audit/entries?limit=1000");
        let previous: string | null = null;
        for (const entry of json.entries) {
          expect(entry.prevHash).toBe(previous);
          previous = createHash("sha256").update(sortedJson(entry)).digest("hex");
        }
        const actions = json.entries.map((entry: { action: string }) => entry.action);
        expect(actions).toContain("run.created");
        expect(actions).toContain("run.cancelled");
        expect(JSON.stringify(json)).not.toContain(OWNER);
      });

      test.each(["", "?fromSeq=0", "?fromSeq=5&toSeq=1", "?fromSeq=-1&toSeq=1", "?fromSeq=a&toSeq=1"])(
        "refuses the range %j",
        async (query) => {
          expect((await host.ask("GET", `/v1/audit/verify${query}`)).status).toBe(400);
        },
      );

      test("is for those who may read it", async () => {
        expect((await host.ask("GET", "/v1/audit/verify?fromSeq=0&toSeq=1", { key: READER })).status).toBe(403);
      });
    });

    describe("the seams", () => {
      test("answer the probe, and nobody without a key", async () => {
        const path = "/v1/host/sample/test/runs/__probe__/events";
        expect((await host.ask("GET", path)).json).toEqual({ events: [] });
        expect((await host.ask("GET", path, { key: "" })).status).toBe(401);
      });

      test("deny a principal nobody knows", async () => {
        const body = { principal: "nobody", action: "runs:create", resource: "run-x" };
        const { json } = await host.ask("POST", "/v1/host/sample/authorization/decide", { body });
        expect(json.allowed).toBe(false);
      });
    });
  });
}

/** Enough of RFC 8785 for these entries, written apart from the host's own. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${sortedJson(item)}`).join(",")}}`;
}
