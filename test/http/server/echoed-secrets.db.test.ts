import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "../../../src/protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../../src/protocol/operations.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";

/** Longer than what errors quote of a name, as real ones are. */
const CLAIMS = Buffer.from(JSON.stringify({ sub: "pat", scope: "all of it, for ever and a day, and then some" }));
const JWT = `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.${CLAIMS.toString("base64url")}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg`;
const KEY = "sk-do-not-echo-0123456789abcdef";
const CREDENTIAL = "cred_live_do_not_echo_42";
/** Short enough to be the name of a workflow. */
const SHORT_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwYXQifQ.c2lnbmF0dXJl";
const SECRETS = {
  "a JWT": SHORT_JWT,
  "a long JWT": JWT,
  "a key of a provider": KEY,
  "the reference of a credential": CREDENTIAL,
};
const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];

describe.each(HTTP_STORES)("a refusal on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  /** No part of it either: of a token, the claims are enough to know whose it was. */
  function expectNoEcho(response: { statusCode: number; payload: string; headers: object }, secret: string): void {
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    const said = JSON.stringify(response.headers) + response.payload;
    for (const part of secret.split(".")) expect(said).not.toContain(part.slice(0, 24));
  }

  test.each(Object.entries(SECRETS))(
    "of an unknown workflow does not repeat %s that was its name",
    async (_what, secret) => {
      const response = await host.ask("POST", "/v1/runs", { json: { workflowId: secret } });
      expectNoEcho(response, secret);
      if (secret === JWT) return;
      expect(response.json()).toMatchObject({ error: "validation_error", details: { workflowId: "[REDACTED]" } });
      expect(response.json().message).toContain("[REDACTED]");
    },
  );

  test("still repeats a name that is none", async () => {
    const response = await host.ask("POST", "/v1/runs", { json: { workflowId: "no-such-workflow" } });
    expect(response.json()).toMatchObject({ details: { workflowId: "no-such-workflow" } });
  });

  test("is replayed under its idempotency key without it", async () => {
    const ask = () =>
      host.ask("DELETE", `/v1/webhooks/${KEY}`, { headers: { "idempotency-key": "the-same-key-0001" } });
    expectNoEcho(await ask(), KEY);
    const again = await ask();
    expectNoEcho(again, KEY);
    expect(again.headers["openwop-idempotent-replay"]).toBe("true");
  });

  test.each([
    "/SECRET",
    "/v1/SECRET",
    "/v1/runs/SECRET",
    "/v2/SECRET/x",
    "/v1/interrupts/SECRET",
    "/v1/runs/%ff/SECRET",
  ])("at %s does not repeat it, whatever the method", async (path) => {
    for (const secret of Object.values(SECRETS)) {
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"] as const) {
        const url = path.replace("SECRET", secret);
        const headers = { "x-request-id": secret, "openwop-version": secret };
        expectNoEcho(await host.app.inject({ method, url }), secret);
        expectNoEcho(await host.app.inject({ method, url, headers }), secret);
      }
    }
  });

  test("at a path that is too long to be shown repeats no part of it", async () => {
    const url = `/${"a/".repeat(70)}${JWT}`;
    const response = await host.app.inject({ method: "GET", url });
    expectNoEcho(response, JWT);
    expect(response.json().message).toContain(`(${url.length} characters)`);
  });

  test.each(OPERATION_IDS)("of %s repeats no secret from path, query, headers or body", async (id) => {
    const { method, path, body, success } = OPERATIONS[id] as Operation;
    // A stream that names nothing in its path is opened, not refused, and does not end.
    if (success.contentType === "text/event-stream" && !path.includes("{")) return;
    for (const secret of Object.values(SECRETS)) {
      const url = path.replace(/\{\w+\}/g, secret);
      const bodies = body === undefined ? [undefined] : [{ [secret]: secret }, secret, [secret], filled(body, secret)];
      const headers = { "idempotency-key": secret, "last-event-id": secret, "x-dedup": secret };
      for (const query of ["", `?${secret}=${secret}`, ...queries(OPERATIONS[id], secret)]) {
        for (const json of bodies) {
          const response = await host.ask(method, `${url}${query}`, {
            headers,
            ...(json === undefined ? {} : { json }),
          });
          if (response.statusCode >= 400) expectNoEcho(response, secret);
        }
      }
    }
  });
});

function queries({ query }: Operation, secret: string): string[] {
  return Object.keys((query as { properties?: object } | undefined)?.properties ?? {}).map(
    (name) => `?${name}=${secret}`,
  );
}

/** A body whose texts are all the secret. */
function filled(schema: unknown, secret: string): unknown {
  const { type, properties, items } = schema as {
    type?: string;
    properties?: Record<string, unknown>;
    items?: unknown;
  };
  if (properties !== undefined) {
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, filled(one, secret)]));
  }
  if (type === "array") return [filled(items ?? {}, secret)];
  return type === "integer" || type === "number" ? 1 : secret;
}
