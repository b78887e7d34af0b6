import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";
import { AMY, NARROW, OWNER, READER, ROB, STRANGER, VERA } from "./keys.ts";

const ACCEPT = { action: "accept" };
const REJECT = { action: "reject" };

/** Who may answer, and how many it takes. */
export function approverScenarios(host: () => OutsideHost): void {
  const waits = async (runId: string) => (await host().ask("GET", `/v1/runs/${runId}`)).json.status;

  describe("a quorum of three at a gate that names nobody", () => {
    test("counts the voters that one relaying key names, and opens with the third", async () => {
      const runId = await host().waits("quorum");
      for (const [voter, granted] of [
        ["v1", 1],
        ["v2", 2],
        ["v2", 2],
      ] as const) {
        const answer = await host().answer(runId, { ...ACCEPT, voter });
        expect([answer.status, answer.json.tally.granted, await waits(runId)]).toEqual([
          200,
          granted,
          "waiting-approval",
        ]);
      }
      expect((await host().answer(runId, { ...ACCEPT, voter: "v3" })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      const [received] = await host().payloads(runId, "approval.received");
      expect(received).toMatchObject({ action: "accept", decidedBy: "quorum:3-of-3" });
    });

    test("fails with the second reject, which is the majority", async () => {
      const runId = await host().waits("quorum");
      await host().answer(runId, { ...REJECT, voter: "v1" });
      expect(await waits(runId)).toBe("waiting-approval");
      await host().answer(runId, { ...REJECT, voter: "v2" });
      expect(await host().ends(runId)).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
    });

    test("keeps who voted, for whom, when and how", async () => {
      const runId = await host().waits("quorum");
      await host().answer(runId, { ...ACCEPT, voter: "v1", feedback: "looks right" });
      const [vote] = await host().payloads(runId, "assay.vote.recorded");
      expect(vote).toMatchObject({ voter: "v1", principal: "owner", action: "accept", reason: "looks right" });
      const { interrupt } = (await host().ask("GET", `/v1/runs/${runId}`)).json;
      expect(interrupt.votes).toMatchObject([{ voter: "v1", action: "accept", at: expect.any(String) }]);
    });

    test("believes no name from a key that may not relay", async () => {
      const runId = await host().waits("quorum");
      expect(refusal(await host().answer(runId, { ...ACCEPT, voter: "v1" }, { key: ROB }))).toEqual([403, "forbidden"]);
      expect((await host().answer(runId, ACCEPT, { key: ROB })).json.tally.granted).toBe(1);
      expect((await host().answer(runId, ACCEPT, { key: VERA })).json.tally.granted).toBe(2);
      expect(await waits(runId)).toBe("waiting-approval");
    });

    test("does not take a vote for that of somebody else who used the same idempotency key", async () => {
      const runId = await host().waits("quorum");
      const headers = { "idempotency-key": `the-same-${runId}` };
      expect((await host().answer(runId, ACCEPT, { key: ROB, headers })).status).toBe(200);
      const other = await host().answer(runId, ACCEPT, { key: VERA, headers });
      expect(refusal(other)).toEqual([409, "idempotency_key_mismatch"]);
      expect((await host().answer(runId, ACCEPT, { key: VERA })).json.tally.granted).toBe(2);
    });
  });

  describe("a quorum of two among named approvers", () => {
    test("is met by two of them, as themselves", async () => {
      const runId = await host().waits("quorum-veto");
      expect(refusal(await host().answer(runId, ACCEPT))).toEqual([403, "forbidden"]);
      expect(refusal(await host().answer(runId, { ...ACCEPT, voter: "vera" }))).toEqual([403, "forbidden"]);
      expect(refusal(await host().answer(runId, { ...ACCEPT, voter: "rob" }, { key: VERA }))).toEqual([
        403,
        "forbidden",
      ]);
      await host().answer(runId, ACCEPT, { key: VERA });
      await host().answer(runId, ACCEPT, { key: VERA });
      expect(await waits(runId)).toBe("waiting-approval");
      await host().answer(runId, ACCEPT, { key: ROB });
      expect((await host().ends(runId)).status).toBe("completed");
    });

    test("falls with one veto, whoever accepted before", async () => {
      const runId = await host().waits("quorum-veto");
      await host().answer(runId, ACCEPT, { key: VERA });
      await host().answer(runId, REJECT, { key: AMY });
      expect((await host().ends(runId)).status).toBe("failed");
    });

    test("lets an approver change their mind while it is open", async () => {
      const runId = await host().waits("quorum");
      await host().answer(runId, { ...REJECT, voter: "v1" });
      const changed = await host().answer(runId, { ...ACCEPT, voter: "v1" });
      expect(changed.json.tally).toMatchObject({ granted: 1, rejected: 0 });
      expect(await host().payloads(runId, "assay.vote.recorded")).toMatchObject([
        { action: "reject" },
        { action: "accept", replaces: "reject" },
      ]);
    });
  });

  describe("approvers by name, group and role", () => {
    test.each([
      ["routed-list", VERA, [OWNER, AMY, ROB], "approversList"],
      ["routed-group", VERA, [OWNER, AMY, ROB], "group:release"],
      ["routed-role", AMY, [VERA, ROB], "role:admin"],
    ] as const)("%s: opens for them, says why, and for nobody else", async (workflowId, approver, others, by) => {
      const runId = await host().waits(workflowId);
      for (const key of others) {
        expect(refusal(await host().answer(runId, ACCEPT, { key }))).toEqual([403, "forbidden"]);
      }
      expect(await waits(runId)).toBe("waiting-approval");
      expect(await host().payloads(runId, "authorization.decided")).toHaveLength(others.length);
      expect((await host().answer(runId, ACCEPT, { key: approver })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      expect(await host().payloads(runId, "assay.vote.recorded")).toMatchObject([{ eligibleBy: [by] }]);
    });
  });

  describe("a gate that asks for a key", () => {
    test("is closed to no key, to keys without the scope and to other tenants, and open to the rest", async () => {
      const runId = await host().waits("auth-required");
      for (const [key, status, code] of [
        ["", 401, "unauthenticated"],
        ["nobody-knows-this-key", 401, "unauthenticated"],
        [READER, 403, "forbidden"],
        [NARROW, 403, "forbidden"],
        [STRANGER, 404, "not_found"],
      ] as const) {
        expect(refusal(await host().answer(runId, ACCEPT, { key })), key).toEqual([status, code]);
      }
      expect(await waits(runId)).toBe("waiting-approval");
      const snapshot = await host().ask("GET", `/v1/runs/${runId}`);
      expect(snapshot.text).not.toContain("interruptToken");
      expect(snapshot.text).not.toContain("/v1/interrupts/");
      expect((await host().answer(runId, ACCEPT, { key: ROB })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
    });
  });
}
