import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { startAssay } from "../assay-process.js";
import { RUN_FIXTURES } from "./fixtures.ts";
import { GATE_FIXTURES } from "./gate-fixtures.ts";
import { KEYS, OWNER, RELAYER } from "./keys.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes, looked at from outside
  readonly json: any;
}

export interface Asking {
  /** "" for none. */
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: object;
}

/** The real program with a real database, asked over real HTTP, knowing nothing of its inside. */
export class OutsideHost {
  readonly url: string;
  readonly stop: () => Promise<unknown>;

  private constructor(url: string, stop: () => Promise<unknown>) {
    this.url = url;
    this.stop = stop;
  }

  static async start(database: readonly string[], flags: readonly string[] = []): Promise<OutsideHost> {
    const dir = tempDir();
    mkdirSync(join(dir, "workflows"));
    for (const one of [...RUN_FIXTURES, ...GATE_FIXTURES]) {
      writeFileSync(join(dir, "workflows", `${one.id}.json`), JSON.stringify(one));
    }
    writeFileSync(join(dir, "keys.json"), JSON.stringify(KEYS));
    const files = ["--keys", join(dir, "keys.json"), "--workflows", join(dir, "workflows"), "--strict"];
    const where = database.length > 0 ? database : ["--data", join(dir, "data")];
    const args = ["--port", "0", ...files, ...where, "--conformance-seams", ...flags];
    const server = await startAssay({ args, logFile: join(dir, "server.log") });
    const host = new OutsideHost(server.url, server.stop);
    await host.ask("POST", "/v1/host/assay/roles", { body: { role: RELAYER, scopes: ["approvals:relay"] } });
    return host;
  }

  async ask(method: string, path: string, { key = OWNER, body, headers }: Asking = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const mediaType = response.headers.get("content-type")?.split(";")[0] ?? "";
    const isJson = text !== "" && /^application\/(.+\+)?json$/.test(mediaType);
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  async begin(workflowId: string, more: object = {}, key = OWNER): Promise<string> {
    const created = await this.ask("POST", "/v1/runs", { key, body: { workflowId, ...more } });
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

  ends(runId: string): Promise<Answer["json"]> {
    return this.reaches(runId, "completed", "failed", "cancelled");
  }

  /** A run of this workflow that has come to wait for somebody. */
  async waits(workflowId: string, more: object = {}): Promise<string> {
    const runId = await this.begin(workflowId, more);
    await this.reaches(runId, "waiting-approval", "waiting-input", "waiting-external");
    return runId;
  }

  answer(runId: string, resumeValue: unknown, { node = "gate", ...asking }: Asking & { node?: string } = {}) {
    return this.ask("POST", `/v1/runs/${runId}/interrupts/${node}`, { ...asking, body: { resumeValue } });
  }

  /** Looks at what a token is for or, with a value, answers it; without any key. */
  byToken(token: string, resumeValue?: unknown): Promise<Answer> {
    const path = `/v1/interrupts/${token}`;
    if (resumeValue === undefined) return this.ask("GET", path, { key: "" });
    return this.ask("POST", path, { key: "", body: { resumeValue } });
  }

  async events(runId: string): Promise<Answer["json"][]> {
    return (await this.ask("GET", `/v1/runs/${runId}/events/poll?timeout=1`)).json.events;
  }

  async types(runId: string): Promise<string[]> {
    return (await this.events(runId)).map((event) => event.type);
  }

  /** What the events of one type say, in their order. */
  async payloads(runId: string, type: string): Promise<Answer["json"][]> {
    return (await this.events(runId)).filter((event) => event.type === type).map((event) => event.payload);
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

/** Status and code, as a refusal is told apart by. */
export function refusal({ status, json }: Answer): [number, string] {
  return [status, json?.error];
}
