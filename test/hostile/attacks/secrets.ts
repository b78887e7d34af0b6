import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import { KEYS, type Target } from "../target.ts";

const KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
const WORDS = ["tulipfield", "marmalade7", "windmill42", "lanternfish", "copperkettle"] as const;
const [STATIC, DEFAULT, REASON, MESSAGE, HEADER] = WORDS;

/** Everything that a host shows of its tenant. */
async function shown(target: Target, workflowId: string, runIds: readonly string[]): Promise<string> {
  const paths = [
    `/v1/workflows/${workflowId}`,
    "/v1/workflows",
    ...runIds.flatMap((id) => [`/v1/runs/${id}`, `/v1/runs/${id}/events/poll`, `/v1/runs/${id}/debug-bundle`]),
  ];
  const answers = await Promise.all(paths.map((path) => target.ask("GET", path)));
  for (const [i, { status }] of answers.entries()) expect([paths[i], status]).toEqual([paths[i], 200]);
  return answers.map(({ text }) => text).join("\n");
}

function expectHidden(text: string): void {
  for (const secret of [KEY, ...WORDS]) expect(text).not.toContain(secret);
  expect(text).toContain("[REDACTED]");
}

export const attacks: readonly Attack[] = [
  {
    title: "secrets in a workflow definition are neither stored nor shown, and its runs get the same text",
    async attempt(target) {
      const definition = workflow({
        id: "leaky",
        nodes: {
          say: { typeId: "core.identity", inputs: { password: { type: "static", value: STATIC } } },
          stop: { typeId: "core.fail", config: { message: `login with password=${MESSAGE} and ${KEY}` } },
        },
      });
      const variables = [{ name: "apiToken", type: "string", defaultValue: DEFAULT }];
      const description = `curl -H "X-Api-Key: ${HEADER}" https://example.org`;
      const answer = await target.ask("POST", "/v1/workflows", { body: { ...definition, variables, description } });
      expect([answer.status, answer.json.scrubbed]).toEqual([201, 4]);
      const runId = await target.begin("leaky");
      expect((await target.ends(runId)).status).toBe("failed");
      expectHidden(await shown(target, "leaky", [runId]));
    },
  },
  {
    title: "secrets in reasons of cancel, bulk cancel, pause and resume are neither stored nor shown",
    async attempt(target) {
      const nap = { typeId: "core.delay", config: { ms: 600_000 } };
      await target.register(workflow({ id: "patient", nodes: { nap } }));
      const runIds = await Promise.all([target.begin("patient"), target.begin("patient")]);
      const [one = "", two = ""] = runIds;
      const reason = `token=${REASON} or ${KEY}`;
      const drainPolicy = "immediate";
      for (const [deed, body] of [
        [":pause", { reason, drainPolicy }],
        [":resume", { reason }],
        ["/cancel", { reason }],
      ] as const) {
        const { status, text } = await target.ask("POST", `/v1/runs/${one}${deed}`, { body });
        expect([deed, status < 300, text]).toEqual([deed, true, text]);
      }
      const { text: log } = await target.ask("GET", `/v1/runs/${one}/events/poll`);
      for (const type of ["run.paused", "run.resumed"]) expect(log).toContain(type);
      expect((await target.ask("POST", "/v1/runs:bulk-cancel", { body: { runIds: [two], reason } })).status).toBe(200);
      await Promise.all(runIds.map((id) => target.ends(id)));
      expectHidden(await shown(target, "patient", runIds));
    },
  },
  {
    title: "a principal, group or role whose name looks like a secret is refused, and the error does not repeat it",
    async attempt(target) {
      const asked: readonly (readonly [string, object])[] = [
        ["/v1/host/assay/keys", { principal: KEY }],
        ["/v1/host/assay/keys", { principal: "grace", groups: [`token=${REASON}`] }],
        ["/v1/host/assay/principals/edna", { groups: [KEY] }],
        ["/v1/host/assay/roles", { role: KEY, scopes: ["runs:read"] }],
        ["/v1/host/assay/keys", { principal: "grace", roles: [KEY] }],
      ];
      for (const [path, body] of asked) {
        const answer = await target.ask("POST", path, { body });
        expect([path, answer.status, answer.json.error]).toEqual([path, 400, "validation_error"]);
        expect(answer.text).not.toContain(KEY);
        expect(answer.text).not.toContain(REASON);
      }
    },
  },
  {
    title:
      "a workspace, a rule of a queue or a credential reference that looks like a secret is refused, and not repeated",
    async attempt(target) {
      const secret = `https://hooks.example.com/x?access_token=${REASON}`;
      const queue = { name: "leaky", judgment: { kind: "rating" } };
      const leaky = workflow({ id: "leaky-reference", nodes: { say: { typeId: "core.noop", credentialsRef: KEY } } });
      const asked: readonly (readonly [string, object])[] = [
        ["/v1/host/assay/keys", { principal: "grace", workspace: KEY }],
        ["/v1/host/assay/keys", { principal: "grace", workspace: secret }],
        ["/v1/host/assay/principals/edna", { groups: [], workspace: KEY }],
        ["/v1/host/assay/roles", { role: "lead", scopes: [], workspace: secret }],
        ["/v1/host/assay/queues", { ...queue, assign: { people: [KEY] } }],
        ["/v1/host/assay/queues", { ...queue, adjudicators: { groups: [secret] } }],
        ["/v1/host/assay/queues", { ...queue, query: { label: KEY } }],
        ["/v1/host/assay/queues", { ...queue, query: { agentId: secret } }],
        ["/v1/workflows", leaky],
      ];
      for (const [path, body] of asked) {
        const answer = await target.ask("POST", path, { body });
        expect([path, answer.status, answer.json.error]).toEqual([path, 400, "validation_error"]);
        for (const one of [KEY, REASON]) expect(answer.text).not.toContain(one);
      }
      const made = await target.ask("POST", "/v1/host/assay/queues", { body: { ...queue, name: "quiet" } });
      const changed = await target.ask("POST", `/v1/host/assay/queues/${made.json.queueId}:update`, {
        body: { revision: 1, assign: { roles: [KEY] } },
      });
      expect([changed.status, changed.json.error]).toEqual([400, "validation_error"]);
    },
  },
  {
    title: "a label of a key that holds a secret is stored and shown without it",
    async attempt(target) {
      const body = { principal: "grace", label: `for CI, token=${REASON}, ${KEY}` };
      const made = await target.ask("POST", "/v1/host/assay/keys", { body });
      expect(made.status).toBe(201);
      const listed = await target.ask("GET", "/v1/host/assay/keys");
      expect(listed.text).toContain("for CI, token=[REDACTED]");
      const audit = await target.ask("GET", "/v1/host/assay/audit/entries");
      expectHidden([made.text.replace(made.json.key, ""), listed.text, audit.text].join());
    },
  },
  {
    title: "a secret in an answer to a gate reaches the next node, and nobody who reads the run",
    async attempt(target) {
      const hint = `nodes.gate.outputs.answers.token.startsWith("copper")`;
      const inputs = {
        hint: { type: "expression" as const, expression: hint },
        whole: { type: "expression" as const, expression: "nodes.gate.outputs" },
      };
      const questions = ["token", "note"].map((id) => ({ id, question: `Which ${id}?` }));
      const gate = { typeId: "core.clarificationGate", config: { questions } };
      const nodes = { gate, say: { typeId: "core.identity", inputs } };
      await target.register(workflow({ id: "login", nodes, edges: ["gate>say"] }));
      const runId = await target.begin("login");
      await target.reaches(runId, ["waiting-input"]);
      const feed = await fetch(`${target.url}/v1/runs/${runId}/events?streamMode=debug`, {
        headers: { authorization: `Bearer ${KEYS.viewer.key}`, accept: "text/event-stream" },
      });
      const answers = { token: WORDS[4], note: `password=${STATIC} or ${KEY}` };
      const body = { resumeValue: { answers } };
      const answered = await target.ask("POST", `/v1/runs/${runId}/interrupts/gate`, { body });
      expect(answered.status).toBe(200);
      const { variables } = await target.ends(runId);
      expect(variables).toMatchObject({ hint: true, whole: { answers: { token: "[REDACTED]" } } });
      const audit = await target.ask("GET", "/v1/host/assay/audit/entries");
      const forked = await target.ask("POST", `/v1/runs/${runId}:fork`, { body: { mode: "replay" } });
      await target.ends(forked.json.runId);
      const runs = await shown(target, "login", [runId, forked.json.runId]);
      expectHidden([answered.text, runs, audit.text, await feed.text()].join("\n"));
    },
  },
  {
    title: "a key in the URL of a callback or a webhook is shown nowhere",
    async attempt(target) {
      await target.register(workflow({ id: "called-back", nodes: { a: "core.noop" } }));
      const url = (word: string) => `https://hooks.example.com/assay?token=${word}`;
      const runId = await target.begin("called-back", { callbackUrl: url(WORDS[0]) });
      await target.ends(runId);
      const branch = await target.ask("POST", `/v1/runs/${runId}:fork`, { body: { mode: "replay" } });
      await target.ends(branch.json.runId);
      const body = { url: url(WORDS[1]), events: ["run.completed"] };
      const tagged = await target.ask("POST", "/v1/webhooks", { body: { ...body, tags: [KEY] } });
      expect([tagged.status, tagged.json.error]).toEqual([400, "validation_error"]);
      expect(tagged.text).not.toContain(KEY);
      expect((await target.ask("POST", "/v1/webhooks", { body })).status).toBe(201);
      const webhooks = await target.ask("GET", "/v1/host/assay/webhooks");
      expect(webhooks.text).toContain("https://hooks.example.com/assay?token=[REDACTED]");
      expectHidden([await shown(target, "called-back", [runId, branch.json.runId]), webhooks.text].join("\n"));
    },
  },
  {
    title: "an id of a delivery or a filter of an export that is a secret is neither recorded nor repeated",
    async attempt(target) {
      const body = { url: "https://hooks.example.com/quiet", events: ["run.completed"] };
      const { json } = await target.ask("POST", "/v1/webhooks", { body });
      for (const deliveryId of [KEY, `token=${REASON}`]) {
        const path = `/v1/host/assay/webhooks/${json.webhookId}:redeliver`;
        const { status, text } = await target.ask("POST", path, { body: { deliveryId } });
        expect(status).toBe(404);
        for (const one of [KEY, REASON]) expect(text).not.toContain(one);
      }
      const audit = await target.ask("GET", "/v1/host/assay/audit/entries?limit=1000");
      const exported = await target.ask("GET", `/v1/host/assay/annotations:export?label=${KEY}`);
      expect([audit.status, exported.status]).toEqual([200, 200]);
      for (const { text } of [audit, exported]) for (const one of [KEY, REASON]) expect(text).not.toContain(one);
    },
  },
  {
    title:
      "a name or an id in an import of judgments that looks like a secret is refused, and the answer does not repeat it",
    async attempt(target) {
      const line = (more: object) => ({
        type: "annotation",
        annotationId: "ann-01k2v6w0d9q3c5x7m8n4p2r1st",
        target: { runId: "run-of-another-host" },
        signal: { kind: "rating", rating: 4 },
        actor: { principalRef: "ada" },
        createdAt: "2026-03-01T12:00:00.000Z",
        workflowId: "greet",
        actorKind: "person",
        state: "live",
        ...more,
      });
      const lines = [
        { type: "header", format: "assay-judgments", version: 1 },
        line({ target: { runId: KEY } }),
        line({ actor: { principalRef: KEY } }),
        line({ agentId: `token=${REASON}` }),
        line({ [KEY]: 1 }),
      ];
      const answer = await target.ask("POST", "/v1/host/assay/annotations:import", { body: { lines } });
      expect([answer.status, answer.json.imported, answer.json.refused?.length]).toEqual([200, 0, 4]);
      const exported = await target.ask("GET", "/v1/host/assay/annotations:export");
      for (const { text } of [answer, exported]) for (const one of [KEY, REASON]) expect(text).not.toContain(one);
    },
  },
  {
    title: "secrets among the arguments of programs, in tapes and workflow definitions, are neither stored nor shown",
    async attempt(target) {
      const args = ["--password", STATIC, "-u", `ann:${DEFAULT}`, "--verbose"];
      const body = { content_hash: "ab".repeat(32), text: "" };
      const spawned = { kind: "process_spawn", program: "psql", args, cwd: null, exit_code: 0, duration_ms: 1 };
      const lines = [
        { type: "header", version: 1, harn_version: "1", started_at_unix_ms: null, script_path: null, argv: args },
        {
          ...{ type: "record", seq: 0, phase: "user_script", virtual_time_ms: 1, monotonic_ms: 1 },
          kind: { ...spawned, stdout_payload: body, stderr_payload: body },
        },
      ];
      const tape = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      const imported = await target.ask("POST", "/v1/host/assay/tapes", { body: { tape } });
      expect(imported.status, imported.text).toBe(201);
      const read = await target.ask("GET", `/v1/host/assay/tapes/${imported.json.runId}/tape`);
      const events = await target.ask("GET", `/v1/runs/${imported.json.runId}/events/poll`);
      const nodes = { gate: { typeId: "core.approvalGate", config: { artifactData: { args } } } };
      await target.register(workflow({ id: "called-with", nodes: nodes as never }));
      const definition = await target.ask("GET", "/v1/workflows/called-with");
      for (const { text } of [read, events, definition]) {
        expect(text).toContain("--verbose");
        for (const one of [STATIC, DEFAULT]) expect(text).not.toContain(one);
      }
    },
  },
  {
    title:
      "a setting in a file that a tool shows, with numbers before its lines or as JSON, is neither stored nor shown",
    async attempt(target) {
      const args = JSON.stringify({ path: "a.yml", content: `db:\n  password: ${STATIC}`, mode: "0644" });
      const shownFile = `     1\tdb:\n     2\t  password: ${DEFAULT}\n`;
      const body = (text: string) => ({ content_hash: "cd".repeat(32), text });
      const kind = {
        ...{ kind: "mcp_json_rpc", server: "files", method: "tools/call", latency_ms: 1 },
        ...{ request_digest: "ab".repeat(32), response_digest: "ab".repeat(32) },
        ...{ request_payload: body(args), response_payload: body(shownFile) },
      };
      const record = { type: "record", seq: 0, phase: "user_script", virtual_time_ms: 1, monotonic_ms: 1, kind };
      const lines = [{ type: "header", version: 1, harn_version: "1" }, record];
      const tape = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      const { json } = await target.ask("POST", "/v1/host/assay/tapes", { body: { tape } });
      const row = { type: "annotation", id: "a1", event_id: 0, kind: "note", evidence: `db:\n  password: ${REASON}` };
      const sidecar = `{"type":"header","schema_version":1}\n${JSON.stringify(row)}\n`;
      const pushed = await target.ask("POST", `/v1/host/assay/tapes/${json.runId}/sidecar`, { body: { sidecar } });
      expect(pushed.status).toBe(200);
      for (const path of [`tapes/${json.runId}/tape`, `tapes/${json.runId}/sidecar`]) {
        expectHidden((await target.ask("GET", `/v1/host/assay/${path}`)).text);
      }
    },
  },
  {
    title: "an id in a request about many things that is a secret is neither shown nor kept with the answer",
    async attempt(target) {
      const resumeValue = { action: "accept" };
      const asked: readonly (readonly [string, object])[] = [
        ["/v1/runs:bulk-cancel", { runIds: [KEY] }],
        ["/v1/host/assay/inbox:decide", { items: [{ interruptId: KEY, resumeValue }] }],
      ];
      for (const [path, body] of asked) {
        const send = () => target.ask("POST", path, { body, headers: { "idempotency-key": "one" } });
        for (const { status, text } of [await send(), await send()]) {
          expect([path, status]).toEqual([path, 200]);
          expectHidden(text);
        }
      }
    },
  },
  {
    title: "a run that is given 900 KB of secrets is created, and shows none of them",
    async attempt(target, rounds) {
      await target.register(workflow({ id: "quiet", nodes: { a: "core.noop" } }));
      const piece = `${KEY} password=${STATIC} {"token":"${DEFAULT}"} `;
      for (let round = 0; round < rounds; round++) {
        const note = piece.repeat(Math.ceil(900_000 / piece.length)).slice(0, 900_000);
        const runId = await target.begin("quiet", { inputs: { note } });
        await target.ends(runId);
        expectHidden((await target.ask("GET", `/v1/runs/${runId}`)).text);
      }
    },
  },
  {
    title: "a run with hundreds of secrets that begin alike is read and listed like any other",
    async attempt(target) {
      await target.register(workflow({ id: "alike", nodes: { a: "core.noop" } }));
      const alike = Array.from({ length: 400 }, (_, i) => `sk-p${"aB3dE6gH9j".repeat(90).slice(0, 20 + 2 * i)}x`);
      const runId = await target.begin("alike", { inputs: { alike, text: "sk-p ".repeat(60_000) } });
      const { variables } = await target.ends(runId);
      expect(variables).toEqual({ alike: alike.map(() => "[REDACTED]"), text: "[REDACTED]" });
      expect((await target.ask("GET", "/v1/runs?workflowId=alike")).text).not.toContain("sk-p");
    },
  },
];
