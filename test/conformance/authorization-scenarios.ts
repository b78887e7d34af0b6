import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";
import { READER, STRANGER, UNSEEDED } from "./keys.ts";

const SEAM = "/v1/host/sample/governance/approval-gate";
const DECIDE = "/v1/host/sample/authorization/decide";

/** What a host promises about who may do what, and the seams that suites look through. */
export function authorizationScenarios(host: () => OutsideHost): void {
  const discovery = async () => (await host().ask("GET", "/.well-known/openwop", { key: "" })).json;

  describe("what discovery says of gates", () => {
    test("names roles and their scopes, and that an unknown one may do nothing", async () => {
      const { authorization } = await discovery();
      expect(Object.keys(authorization).sort()).toEqual(["failClosed", "roles", "supported"]);
      expect(authorization).toMatchObject({ supported: true, failClosed: true });
      expect(authorization.roles.length).toBeGreaterThan(0);
      for (const role of authorization.roles) {
        expect(Object.keys(role).sort()).toEqual(["role", "scopes"]);
        expect(role.scopes.every((scope: unknown) => typeof scope === "string")).toBe(true);
      }
    });

    test("names how approvers can be named, and nothing else under interrupt", async () => {
      const { interrupt, supportedEnvelopes } = await discovery();
      expect(Object.keys(interrupt)).toEqual(["approverRouting"]);
      expect(interrupt.approverRouting).toMatchObject({ supported: true, refKinds: ["group", "role"] });
      expect(supportedEnvelopes).toContain("clarification.request");
    });

    test("names the interrupt profiles and their limits", async () => {
      const { extensions } = await discovery();
      expect(extensions.interrupts).toMatchObject({
        profiles: [
          "openwop-interrupt-quorum",
          "openwop-interrupt-auth-required",
          "openwop-interrupt-external-event",
          "openwop-interrupt-cascade-cancel",
        ],
        signedCallbackTokens: true,
      });
      expect(extensions.interrupts.externalEventRetentionSeconds).toBeGreaterThan(0);
    });
  });

  describe("a role that nobody defined", () => {
    test("grants nothing on any route", async () => {
      const runId = await host().waits("approval");
      for (const [method, path, body] of [
        ["GET", `/v1/runs/${runId}`, undefined],
        ["POST", "/v1/runs", { workflowId: "noop" }],
        ["POST", `/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: "accept" } }],
        ["POST", `/v1/runs/${runId}/cancel`, {}],
      ] as const) {
        expect(refusal(await host().ask(method, path, { key: UNSEEDED, body }))).toEqual([403, "forbidden"]);
      }
      expect((await host().ask("GET", `/v1/runs/${runId}`)).json.status).toBe("waiting-approval");
    });

    test.each([
      ["nobody", "approvals:respond", false],
      ["una", "runs:read", false],
      ["reader", "approvals:respond", false],
      ["reader", "runs:read", true],
      ["vera", "approvals:respond", true],
      ["amy", "approvals:respond", true],
      ["stranger", "runs:read", false],
    ])("the seam decides for %s and %s: %s", async (principal, action, allowed) => {
      const body = { principal, action, resource: "run-x" };
      const { status, json } = await host().ask("POST", DECIDE, { body });
      expect([status, json.allowed]).toEqual([200, allowed]);
    });
  });

  describe("the governance seam", () => {
    const decide = async (scenario: string, more: object = {}, key?: string) =>
      host().ask("POST", SEAM, {
        body: { scenario, principal: "amy", ...more },
        ...(key === undefined ? {} : { key }),
      });

    test("does not release for somebody without the role", async () => {
      const { status, json } = await decide("unauthorized-grant", { principal: "nobody" });
      expect([status, json.released]).toEqual([200, false]);
      expect(await host().payloads(json.runId, "authorization.decided")).toMatchObject([
        { principal: "nobody", allowed: false },
      ]);
      expect(await host().types(json.runId)).not.toContain("approval.granted");
    });

    test("releases for a grant, and the run goes on", async () => {
      const { json } = await decide("grant");
      expect(json).toMatchObject({
        released: true,
        event: { type: "approval.granted", payload: { gateId: "gate", principal: "amy" } },
      });
      expect((await host().ends(json.runId)).status).toBe("completed");
    });

    test("does not release for a reject, and the run lives on", async () => {
      const { json } = await decide("reject", { reason: "not yet" });
      expect(json).toMatchObject({
        released: false,
        event: { type: "approval.rejected", payload: { principal: "amy", reason: "not yet" } },
      });
      expect((await host().reaches(json.runId, "waiting-approval")).status).toBe("waiting-approval");
    });

    test("releases for an override with its reason", async () => {
      const { json } = await decide("override", { reason: "the site is down" });
      expect(json).toMatchObject({
        released: true,
        event: { type: "approval.overridden", payload: { principal: "amy", reason: "the site is down" } },
      });
    });

    test("does not release for one vote of two", async () => {
      const { json } = await decide("quorum");
      expect(json).toMatchObject({
        released: false,
        event: { type: "approval.granted", payload: { quorumProgress: { granted: 1, required: 2 } } },
      });
    });

    test("is closed to those who may not answer, and crosses no tenant", async () => {
      expect((await decide("grant", {}, "")).status).toBe(401);
      expect((await decide("grant", {}, READER)).status).toBe(403);
      const theirs = await decide("grant", {}, STRANGER);
      expect(theirs.status).toBe(200);
      expect((await host().ask("GET", `/v1/runs/${theirs.json.runId}`)).status).toBe(404);
      expect((await decide("whatever")).status).toBe(400);
    });
  });
}
