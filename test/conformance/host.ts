import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflow } from "../../src/testing/workflow.ts";
import { startAssay } from "../assay-process.js";

export const OWNER = "conformance-owner-key";
export const READER = "conformance-reader-key";
export const STRANGER = "conformance-other-tenant-key";

const KEYS = [
  { key: OWNER, tenant: "t1", principal: "owner", roles: ["owner"], scopes: ["*"] },
  { key: READER, tenant: "t1", principal: "reader", roles: ["viewer"], scopes: ["*"] },
  { key: STRANGER, tenant: "t2", principal: "stranger", roles: ["owner"], scopes: ["*"] },
];

const number = (name: string, defaultValue: number) => ({ name, type: "number" as const, defaultValue });
const wait = { typeId: "core.delay", inputs: { delayMs: { type: "variable" as const, variableName: "delayMs" } } };

/** What an outside suite would seed, in our own words. */
const WORKFLOWS = [
  workflow({ id: "noop", nodes: { noop: "core.noop" } }),
  workflow({
    id: "echo",
    nodes: { echo: { typeId: "core.identity", inputs: { payload: { type: "variable", variableName: "payload" } } } },
    variables: [{ name: "payload", type: "object", required: true }],
  }),
  workflow({ id: "sleep", nodes: { wait }, variables: [number("delayMs", 300)] }),
  workflow({
    id: "sleep-then-go",
    nodes: { wait, after: "core.noop" },
    edges: ["wait>after"],
    variables: [number("delayMs", 300)],
  }),
  workflow({ id: "failing", nodes: { fail: "core.fail" } }),
  workflow({ id: "chain", nodes: { a: "core.noop", b: "core.noop", c: "core.noop" }, edges: ["a>b", "b>c"] }),
  workflow({ id: "missing", nodes: { n1: "conformance.requiresMissing" } }),
  workflow({
    id: "strict-options",
    nodes: { noop: "core.noop" },
    configurableSchema: {
      type: "object",
      additionalProperties: false,
      properties: { recursionLimit: { type: "integer" } },
    },
  }),
];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes, looked at from outside
  readonly json: any;
}

/** The real program with a real database, asked over real HTTP, knowing nothing of its inside. */
export class OutsideHost {
  readonly url: string;
  readonly stop: () => Promise<unknown>;

  private constructor(url: string, stop: () => Promise<unknown>) {
    this.url = url;
    this.stop = stop;
  }

  static async start(database: readonly string[]): Promise<OutsideHost> {
    const dir = tempDir();
    mkdirSync(join(dir, "workflows"));
    for (const one of WORKFLOWS) writeFileSync(join(dir, "workflows", `${one.id}.json`), JSON.stringify(one));
    writeFileSync(join(dir, "keys.json"), JSON.stringify(KEYS));
    const args = ["--port", "0", "--keys", join(dir, "keys.json"), "--workflows", join(dir, "workflows")];
    const where = database.length > 0 ? database : ["--data", join(dir, "data")];
    const logFile = join(dir, "server.log");
    const server = await startAssay({ args: [...args, ...where, "--conformance-seams"], logFile });
    return new OutsideHost(server.url, server.stop);
  }

  async ask(
    method: string,
    path: string,
    more: { key?: string; body?: unknown; headers?: object } = {},
  ): Promise<Answer> {
    const { key = OWNER, body } = more;
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...more.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  async begin(workflowId: string, more: object = {}): Promise<string> {
    const created = await this.ask("POST", "/v1/runs", { body: { workflowId, ...more } });
    if (created.status !== 201) throw new Error(`${created.status} ${created.text}`);
    return created.json.runId;
  }

  /** The snapshot once it has this status. */
  async reaches(runId: string, ...statuses: string[]): Promise<Answer["json"]> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const { json } = await this.ask("GET", `/v1/runs/${runId}`);
      if (statuses.includes(json.status)) return json;
      if (Date.now() > deadline) throw new Error(`run ${runId} stayed ${json.status}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async events(runId: string): Promise<Answer["json"][]> {
    return (await this.ask("GET", `/v1/runs/${runId}/events/poll?timeout=1`)).json.events;
  }

  /** Every frame of a stream until the server closes it. */
  async frames(path: string, headers: object = {}): Promise<{ id?: string; event?: string; data: string }[]> {
    const { text } = await this.ask("GET", path, { headers: { accept: "text/event-stream", ...headers } });
    return text
      .split("\n\n")
      .map((block) => Object.fromEntries([...block.matchAll(/^(id|event|data): (.*)$/gm)].map(([, k, v]) => [k, v])))
      .filter((frame) => frame["data"] !== undefined) as { id?: string; event?: string; data: string }[];
  }
}
