import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { expect } from "vitest";
import { deploymentNode } from "../agents/deployments/management-workflow.ts";
import { defaultConfig } from "../cli/settings/config.ts";
import { httpSettings } from "../cli/wiring/listen.ts";
import { auditSigner } from "../engine/audit/signer.ts";
import type { Host } from "../engine/host.ts";
import { authenticator } from "../engine/identity/authenticate.ts";
import { authorizer } from "../engine/identity/roles.ts";
import { seedKeys } from "../engine/identity/seed-keys.ts";
import type { Worker } from "../engine/worker/worker.ts";
import type { HttpDeps, HttpSettings } from "../http/pipeline/deps.ts";
import { eventRoutes } from "../http/routes/events.ts";
import { buildServer } from "../http/server.ts";
import type { StreamSettings } from "../http/streams/stream-room.ts";
import { ERRORS, type ErrorCode } from "../protocol/errors.ts";
import type { KeyFileEntry } from "../protocol/identity/api.ts";
import type { Capability } from "../protocol/operation.ts";
import { ErrorEnvelope } from "../protocol/runs/api.ts";
import { parse, Type } from "../protocol/schema.ts";
import type { Store } from "../store/port/store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { agentsOn } from "./agents-on.ts";
import { engineOn, register, workerOn } from "./engine.ts";
import { EVAL_SETTINGS } from "./eval-bench.ts";
import { scriptedReviewer } from "./scripted-reviewer.ts";
import { workflow } from "./workflow.ts";

/** Two tenants, and in the first everybody from the owner to a key that allows nothing but reading. */
export const KEYS = {
  owner: { key: "key-of-the-owner-of-t1", tenant: "t1", principal: "ada", roles: ["owner"] },
  viewer: { key: "key-of-a-viewer-in-t1", tenant: "t1", principal: "vic", roles: ["viewer"] },
  /** The principal may do everything, this key may not. */
  narrow: { key: "key-of-ada-for-reading", tenant: "t1", principal: "ada", roles: ["owner"], scopes: ["runs:read"] },
  /** A principal with roles that nobody defined. */
  stranger: { key: "key-of-a-stranger-in-t1", tenant: "t1", principal: "sam", roles: ["astronaut"] },
  east: { key: "key-of-workspace-east", tenant: "t1", workspace: "east", principal: "eve", roles: ["owner"] },
  west: { key: "key-of-workspace-west", tenant: "t1", workspace: "west", principal: "wes", roles: ["owner"] },
  other: { key: "key-of-the-owner-of-t2", tenant: "t2", principal: "bob", roles: ["owner"] },
} as const satisfies Record<string, KeyFileEntry>;

export type Who = keyof typeof KEYS;

export interface TestHostOptions {
  readonly store?: Store;
  readonly settings?: Partial<HttpSettings>;
  readonly capabilities?: readonly Capability[];
  readonly host?: Partial<Host>;
  readonly deps?: Partial<HttpDeps>;
  readonly streams?: Partial<StreamSettings>;
  /** Executes runs, with the real worker. */
  readonly worker?: boolean;
}

const ALL_SERVED: readonly Capability[] = [
  "pauseResume",
  "feedback",
  "auditLogIntegrity",
  "webhooks",
  "conformanceSeams",
  "replay",
  "diff",
  "debugBundle",
  "reviews",
  "agents",
  "evalSuite",
  "deployment",
  "orchestrator",
  "modelCapabilities",
];

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface Asked {
  readonly as?: Who;
  readonly json?: unknown;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A whole host on a SQLite in memory, with the real clock. Workflow `noop` is registered in both tenants. */
export class TestHost {
  readonly host: Host;
  readonly store: Store;
  readonly app: FastifyInstance;
  readonly logged: LogLine[];
  readonly #close: () => Promise<void>;

  private constructor(host: Host, app: FastifyInstance, logged: LogLine[], close: () => Promise<void>) {
    this.host = host;
    this.store = host.store;
    this.app = app;
    this.logged = logged;
    this.#close = close;
  }

  static async start(options: TestHostOptions = {}): Promise<TestHost> {
    const store = options.store ?? (await openSqliteStore({ path: ":memory:" }));
    const capabilities = new Set<Capability>(options.capabilities ?? ALL_SERVED);
    const bare: Host = { ...engineOn(store, [deploymentNode]), capabilities, ...options.host };
    await seedKeys(bare, Object.values(KEYS) as KeyFileEntry[]);
    let worker: Worker | undefined;
    if (options.worker) worker = workerOn(bare);
    const host: Host = worker === undefined ? bare : { ...bare, localWorker: worker };
    for (const who of ["owner", "other"] as const) {
      const { tenant, principal, roles } = KEYS[who];
      const caller = {
        tenant,
        principal,
        roles,
        kind: "user",
        keyId: "key-test",
        groups: [],
        keyScopes: ["*"],
      } as const;
      await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }), caller);
    }
    const logged: LogLine[] = [];
    const log = (level: LogLine["level"]) => (fields: object, message: string) =>
      void logged.push({ level, message, ...fields });
    const who = authenticator(host);
    const roles = authorizer(host);
    const app = buildServer({
      host,
      settings: { ...httpSettings(defaultConfig()), ...options.settings },
      log: { info: log("info"), warn: log("warn"), error: log("error") },
      version: "0.0.0-test",
      authenticator: who,
      authorizer: roles,
      audit: { verifier: await auditSigner(store), intervalEntries: 1000, intervalSeconds: 300 },
      events: eventRoutes(host, {
        settings: options.streams ?? {},
        report: (error) => log("error")({ err: error }, "stream"),
      }),
      reviews: { reviewers: [scriptedReviewer()] },
      trust: { publishers: [], allowUnsigned: true },
      evals: { agents: agentsOn(store), settings: EVAL_SETTINGS },
      ...options.deps,
    });
    await app.ready();
    return new TestHost(host, app, logged, async () => {
      await app.close();
      await worker?.stop(0);
      await who.close();
      roles.close();
      await store.close();
    });
  }

  /** A request that meets no socket, as the owner of the first tenant unless it says otherwise. */
  async ask(method: "GET" | "POST" | "HEAD" | "DELETE" | "PUT" | "OPTIONS", url: string, asked: Asked = {}) {
    const payload = asked.json === undefined ? asked.body : JSON.stringify(asked.json);
    const json = payload === undefined ? {} : { "content-type": "application/json" };
    return this.app.inject({
      method,
      url,
      headers: { ...bearer(asked.as ?? "owner"), ...json, ...asked.headers },
      ...(payload === undefined ? {} : { payload }),
    });
  }

  /** A run of the workflow `noop`. */
  async newRun(as: Who = "owner"): Promise<string> {
    const { runId } = (await this.ask("POST", "/v1/runs", { as, json: { workflowId: "noop" } })).json();
    return runId;
  }

  /** Listens on a free port and gives the address. */
  async listen(): Promise<string> {
    await this.app.listen({ port: 0, host: "127.0.0.1" });
    return `http://127.0.0.1:${(this.app.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

export function bearer(who: Who): { authorization: string } {
  return { authorization: `Bearer ${KEYS[who].key}` };
}

/** An error as every client may rely on it; returns the details. */
export function expectError(
  response: { statusCode: number; payload: string; headers: Readonly<Record<string, unknown>> },
  code: ErrorCode,
): Record<string, unknown> {
  const body = JSON.parse(response.payload);
  expect({ status: response.statusCode, ...body }).toMatchObject({ status: ERRORS[code].status, error: code });
  expect(response.headers["content-type"]).toBe("application/json");
  expect(response.headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  return parse(StrictEnvelope, body, "envelope").details;
}

/** Details are optional in the protocol; here they are always there. */
const StrictEnvelope = Type.Required(ErrorEnvelope, { additionalProperties: false });

export function testHost(options?: TestHostOptions): Promise<TestHost> {
  return TestHost.start(options);
}
