import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { startAssay } from "../assay-process.js";

/** Keys of the target by name. Principals of `acme` differ in role; `mallory` owns another tenant. */
export const KEYS = {
  owner: { key: "hostile-key-of-the-owner-olga", tenant: "acme", principal: "olga", roles: ["owner"] },
  admin: { key: "hostile-key-of-the-admin-adam", tenant: "acme", principal: "adam", roles: ["admin"] },
  editor: { key: "hostile-key-of-the-editor-edna", tenant: "acme", principal: "edna", roles: ["editor"] },
  reviewer: { key: "hostile-key-of-the-reviewer-rob", tenant: "acme", principal: "rob", roles: ["reviewer"] },
  second: { key: "hostile-key-of-the-reviewer-sue", tenant: "acme", principal: "sue", roles: ["reviewer"] },
  viewer: { key: "hostile-key-of-the-viewer-vic", tenant: "acme", principal: "vic", roles: ["viewer"] },
  mallory: { key: "hostile-key-of-the-owner-mallory", tenant: "evil", principal: "mallory", roles: ["owner"] },
} as const;

export type Who = keyof typeof KEYS | "nobody";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes, read from outside
  readonly json: any;
}

export interface Request {
  readonly as?: Who;
  /** A key that the test made itself, in place of one of `KEYS`. */
  readonly key?: string;
  /** A string is sent as it is; any other value as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const ENDED = ["completed", "failed", "cancelled"];

/** The real program on a real database, attacked over HTTP only. */
export class Target {
  readonly url: string;
  readonly pid: number;
  /** The folder of its keys, log and, with SQLite, its data. */
  readonly folder: string;
  readonly stop: () => Promise<unknown>;
  readonly isAlive: () => boolean;

  private constructor(folder: string, server: Awaited<ReturnType<typeof startAssay>>) {
    this.folder = folder;
    this.url = server.url;
    this.pid = server.pid;
    this.stop = server.stop;
    this.isAlive = server.isAlive;
  }

  /** @param database the flags that choose the database; none for SQLite in the target's own folder */
  static async start(database: readonly string[], flags: readonly string[] = []): Promise<Target> {
    const folder = tempDir();
    mkdirSync(join(folder, "data"));
    writeFileSync(join(folder, "keys.json"), JSON.stringify(Object.values(KEYS)));
    const where = database.length > 0 ? database : ["--data", join(folder, "data")];
    const args = ["--port", "0", "--keys", join(folder, "keys.json"), ...where, ...flags];
    return new Target(folder, await startAssay({ args, logFile: join(folder, "server.log") }));
  }

  async ask(method: string, path: string, { as = "owner", key, body, headers }: Request = {}): Promise<Answer> {
    const secret = key ?? (as === "nobody" ? undefined : KEYS[as].key);
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /^application\/(.+\+)?json/.test(response.headers.get("content-type") ?? "") && text !== "";
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  async register(workflow: object, as: Who = "owner"): Promise<void> {
    const answer = await this.ask("POST", "/v1/workflows", { as, body: workflow });
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  }

  async begin(workflowId: string, more: object = {}, as: Who = "owner"): Promise<string> {
    const answer = await this.ask("POST", "/v1/runs", { as, body: { workflowId, ...more } });
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    return answer.json.runId;
  }

  /** The snapshot of a run once it has one of these statuses. */
  async reaches(runId: string, statuses: readonly string[], as: Who = "owner"): Promise<Answer["json"]> {
    const deadline = Date.now() + 30_000;
    for (;;) {
      const { json } = await this.ask("GET", `/v1/runs/${runId}`, { as });
      if (statuses.includes(json.status)) return json;
      if (Date.now() > deadline) throw new Error(`run ${runId} stayed ${json.status}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  ends(runId: string, as: Who = "owner"): Promise<Answer["json"]> {
    return this.reaches(runId, ENDED, as);
  }
}
