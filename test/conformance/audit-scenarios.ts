import { createHash, createPublicKey, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { OutsideHost } from "./host.ts";
import { OWNER, READER } from "./keys.ts";

/** What is written down about callers, and what only suites see. */
export function auditScenarios(host: () => OutsideHost): void {
  describe("the audit log", () => {
    test("verifies, and its checkpoints are signed with the key that discovery publishes", async () => {
      const path = "/v1/audit/verify?fromSeq=0&toSeq=1000000";
      const { status, json } = await host().ask("GET", path);
      expect(status).toBe(200);
      expect(json).toMatchObject({
        fromSeq: 0,
        toSeq: 1_000_000,
        chainValid: true,
        checkpointsValid: true,
        anomalies: [],
      });
      const discovery = (await host().ask("GET", "/.well-known/openwop")).json;
      const der = Buffer.from(discovery.auth.auditLogIntegrity.checkpointPublicKey, "base64");
      const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
      expect(json.checkpoints.length).toBeGreaterThan(0);
      for (const { merkleRoot, signature } of json.checkpoints) {
        const root = Buffer.from(merkleRoot, "hex");
        expect(verify(null, root, publicKey, Buffer.from(signature, "base64"))).toBe(true);
      }
    });

    test("can be recomputed by anybody from its entries", async () => {
      const { json } = await host().ask("GET", "/v1/host/assay/audit/entries?limit=1000");
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
        expect((await host().ask("GET", `/v1/audit/verify${query}`)).status).toBe(400);
      },
    );

    test("is for those who may read it", async () => {
      expect((await host().ask("GET", "/v1/audit/verify?fromSeq=0&toSeq=1", { key: READER })).status).toBe(403);
    });
  });

  describe("the seams", () => {
    test("answer the probe, and nobody without a key", async () => {
      const path = "/v1/host/sample/test/runs/__probe__/events";
      expect((await host().ask("GET", path)).json).toEqual({ events: [] });
      expect((await host().ask("GET", path, { key: "" })).status).toBe(401);
    });

    test("deny a principal nobody knows", async () => {
      const body = { principal: "nobody", action: "runs:create", resource: "run-x" };
      const { json } = await host().ask("POST", "/v1/host/sample/authorization/decide", { body });
      expect(json.allowed).toBe(false);
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
