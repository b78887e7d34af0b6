import { describe, expect, test } from "vitest";
import type { OutsideHost } from "./host.ts";
import { READER } from "./keys.ts";

/** What a host tells of itself, and how it says no. */
export function discoveryScenarios(host: () => OutsideHost): void {
  describe("discovery", () => {
    test("is public, cacheable, and has its families at the root", async () => {
      const { status, headers, json } = await host().ask("GET", "/.well-known/openwop", { key: "" });
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toContain("max-age");
      expect(json.protocolVersion).toMatch(/^1\.\d+$/);
      expect(json.capabilities).toBeUndefined();
      expect(json.limits).toMatchObject({ clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 });
      expect(json.fixtures).toContain("noop");
      expect(JSON.stringify(json)).not.toMatch(/"edit"/);
    });

    test("answers 304 to its own ETag", async () => {
      const { headers } = await host().ask("GET", "/.well-known/openwop", { key: "" });
      const again = await host().ask("GET", "/.well-known/openwop", {
        headers: { "if-none-match": headers.get("etag") ?? "" },
      });
      expect(again.status).toBe(304);
    });

    test("comes with JSON Schemas that need no key", async () => {
      const { json } = await host().ask("GET", "/v1/schemas", { key: "" });
      expect(json.schemas.length).toBeGreaterThan(4);
      for (const { url, name } of json.schemas) {
        const { $id } = (await host().ask("GET", url, { key: "" })).json;
        expect($id).toBe(`urn:assay:schema:${name}`);
      }
    });

    test("comes with an OpenAPI and an AsyncAPI document", async () => {
      expect((await host().ask("GET", "/v1/openapi.json", { key: "" })).json.openapi).toMatch(/^3\.1/);
      expect((await host().ask("GET", "/v1/asyncapi.json", { key: "" })).json.asyncapi).toMatch(/^3\./);
    });
  });

  describe("errors", () => {
    test.each([
      ["no key", "GET", "/v1/runs/run-x", { key: "" }, 401, "unauthenticated"],
      ["an unknown key", "GET", "/v1/runs/run-x", { key: "who-is-this-anyway" }, 401, "unauthenticated"],
      ["a key without the scope", "POST", "/v1/runs", { key: READER, body: { workflowId: "noop" } }, 403, "forbidden"],
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
      ["an evaluation of nothing", "POST", "/v1/runs", { body: { mode: "eval" } }, 400, "validation_error"],
      ["annotations of an unknown run", "POST", "/v1/runs/run-x/annotations", { body: {} }, 404, "not_found"],
      [
        "a bad option",
        "POST",
        "/v1/runs",
        { body: { workflowId: "strict-options", configurable: { x: 1 } } },
        400,
        "validation_error",
      ],
    ])("%s: the envelope with the right status and code", async (_, method, path, more, status, code) => {
      const answer = await host().ask(method, path, more);
      expect(answer.status).toBe(status);
      expect(answer.json.error).toBe(code);
      expect(answer.json.message).toEqual(expect.any(String));
      expect(Object.keys(answer.json).filter((key) => !["error", "message", "details"].includes(key))).toEqual([]);
    });
  });
}
