import { expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { logRequest } from "./request-log.ts";

const SECRET = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a";

function logged(given: { requestId?: string; principal?: string; url?: string; route?: string }) {
  const lines: object[] = [];
  const write = (fields: object) => void lines.push(fields);
  const { requestId = "req-1", principal = "ana", url = "/v1/runs/run-1", route = "/v1/runs/{runId}" } = given;
  const caller = {
    tenant: "t1",
    principal,
    kind: "user",
    keyId: "key-1",
    roles: [],
    groups: [],
    keyScopes: [],
  } as const;
  const request = { requestId, caller, scope: "runs:read", method: "GET", route, url, status: 200, latencyMs: 1.234 };
  logRequest({ info: write, warn: write, error: write }, scrubber({ known: [SECRET] }), request);
  return lines[0];
}

test("a request is logged with who asked for what, and without its query", () => {
  expect(logged({ url: "/v1/runs/run-1?after=3" })).toEqual({
    requestId: "req-1",
    keyId: "key-1",
    tenant: "t1",
    principal: "ana",
    scope: "runs:read",
    method: "GET",
    route: "/v1/runs/{runId}",
    path: "/v1/runs/run-1",
    status: 200,
    latencyMs: 1.23,
  });
});

test.each([
  ["the path", { url: `/v1/runs/${SECRET}` }, "path"],
  ["the path, escaped", { url: `/v1/runs/${SECRET.replace("sk", "%73k")}` }, "path"],
  ["the id of the request", { requestId: SECRET }, "requestId"],
  ["the principal", { principal: SECRET }, "principal"],
])("a secret in %s is not logged", (_, given, member) => {
  const line = logged(given);
  expect(JSON.stringify(line)).not.toContain(SECRET.slice(-20));
  expect(line).toHaveProperty(member, expect.stringContaining("[REDACTED]"));
  expect(line).toMatchObject({ keyId: "key-1", status: 200 });
});

test("a token in the path is not logged at all", () => {
  expect(logged({ url: "/v1/interrupts/abc", route: "/v1/interrupts/{token}" })).toMatchObject({
    path: "/v1/interrupts/{token}",
  });
});
