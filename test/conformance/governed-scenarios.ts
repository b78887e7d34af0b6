import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";
import { ADAM, ADAM_AGAIN, AMY, OWNER, READER, VERA } from "./keys.ts";

const GRANT = { decision: "granted" };
const REJECT = { decision: "rejected", reason: "not like this" };

/** The governed gate on the real wire. */
export function governedScenarios(host: () => OutsideHost): void {
  const statusOf = async (runId: string) => (await host().ask("GET", `/v1/runs/${runId}`)).json.status;

  describe("a governed gate", () => {
    test("asks with its rules, by the newer event only", async () => {
      const runId = await host().waits("governed-quorum");
      const [payload] = await host().payloads(runId, "interrupt.requested");
      expect(payload).toMatchObject({ kind: "approval", data: { gateId: "gate", requiredRole: "admin", quorum: 2 } });
      expect([...payload.data.actions].sort()).toEqual(["accept", "reject"]);
      expect(await host().types(runId)).not.toContain("approval.requested");
      expect((await host().ask("GET", `/v1/runs/${runId}`)).text).not.toContain("interruptToken");
    });

    test("stays closed to those without the role, and its log and the audit log say who tried", async () => {
      const runId = await host().waits("governed");
      expect(refusal(await host().answer(runId, GRANT, { key: VERA }))).toEqual([403, "forbidden"]);
      expect(refusal(await host().answer(runId, GRANT, { key: READER }))).toEqual([403, "forbidden"]);
      expect(await statusOf(runId)).toBe("waiting-approval");
      expect(await host().payloads(runId, "authorization.decided")).toMatchObject([
        { principal: "vera", allowed: false },
        { principal: "reader", allowed: false },
      ]);
      expect(await auditOf(runId)).toContain("authorization.denied");
    });

    test("stays closed to everybody when nobody can have its role", async () => {
      const runId = await host().waits("governed-unknown-role");
      for (const key of [OWNER, AMY, VERA]) {
        expect(refusal(await host().answer(runId, GRANT, { key }))).toEqual([403, "forbidden"]);
      }
      expect(await statusOf(runId)).toBe("waiting-approval");
    });

    test("opens for the role, and for one that contains it", async () => {
      for (const key of [AMY, OWNER]) {
        const runId = await host().waits("governed");
        expect((await host().answer(runId, GRANT, { key })).status).toBe(200);
        expect((await host().ends(runId)).status).toBe("completed");
        const types = (await host().types(runId)).filter((type) => !type.startsWith("assay."));
        expect(types.slice(types.indexOf("approval.granted")).slice(0, 4)).toEqual([
          "approval.granted",
          "interrupt.resolved",
          "node.resumed",
          "node.completed",
        ]);
        expect(await host().payloads(runId, "interrupt.resolved")).toMatchObject([{ outcome: "granted" }]);
      }
    });

    test("takes accept and reject for granted and rejected", async () => {
      const runId = await host().waits("governed");
      expect((await host().answer(runId, { action: "accept" }, { key: AMY })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
    });

    test("with a quorum opens for distinct principals only, and shows how far it is", async () => {
      const runId = await host().waits("governed-quorum");
      for (const key of [ADAM, ADAM, ADAM_AGAIN]) {
        expect((await host().answer(runId, GRANT, { key })).status).toBe(200);
        expect(await statusOf(runId)).toBe("waiting-approval");
      }
      expect((await host().answer(runId, GRANT, { key: AMY })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      expect(await host().payloads(runId, "approval.granted")).toEqual([
        { gateId: "gate", principal: "adam", quorumProgress: { granted: 1, required: 2 } },
        { gateId: "gate", principal: "amy", quorumProgress: { granted: 2, required: 2 } },
      ]);
    });

    test("holds its principals to their votes", async () => {
      const runId = await host().waits("governed-quorum");
      await host().answer(runId, GRANT, { key: ADAM });
      expect(refusal(await host().answer(runId, REJECT, { key: ADAM }))).toEqual([409, "vote_conflict"]);
      expect(await statusOf(runId)).toBe("waiting-approval");
    });

    test("that is rejected goes back along its edge and asks anew, with no votes", async () => {
      const runId = await host().waits("governed-loop");
      expect((await host().answer(runId, REJECT, { key: AMY })).status).toBe(200);
      await host().reaches(runId, "waiting-approval");
      const asked = await host().payloads(runId, "interrupt.requested");
      expect(asked).toHaveLength(2);
      expect(asked[0].key).not.toBe(asked[1].key);
      expect(asked[0].interruptId).not.toBe(asked[1].interruptId);
      expect(await host().payloads(runId, "approval.rejected")).toEqual([
        { gateId: "gate", principal: "amy", reason: "not like this" },
      ]);
      const { interrupt } = (await host().ask("GET", `/v1/runs/${runId}`)).json;
      expect(interrupt.votes ?? []).toEqual([]);
      expect(refusal(await host().answer(runId, GRANT, { key: AMY }))).toEqual([409, "vote_not_bound"]);
      const { interruptId, revision, artifactDigest } = interrupt;
      const read = `gate?${new URLSearchParams({ interruptId, revision, artifactDigest })}`;
      expect((await host().answer(runId, GRANT, { key: AMY, node: read })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
    });

    test("that is rejected where no edge leads back fails its run", async () => {
      const runId = await host().waits("governed");
      await host().answer(runId, REJECT, { key: AMY });
      expect(await host().ends(runId)).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
      const started = (await host().events(runId)).filter((event) => event.type === "node.started");
      expect(started.map((event) => event.nodeId)).toEqual(["gate"]);
    });

    test("that nobody decides in time is rejected", async () => {
      const runId = await host().begin("governed-short");
      expect((await host().ends(runId)).status).toBe("failed");
      expect(await host().payloads(runId, "interrupt.resolved")).toMatchObject([
        { nodeId: "gate", kind: "approval", outcome: "rejected", reason: "timeout" },
      ]);
      expect(await host().types(runId)).not.toContain("approval.granted");
    });

    test.each([
      ["nothing", null],
      ["no value at all", undefined],
      ["no decision", {}],
      ["an unknown decision", { decision: "maybe" }],
      ["a decision of the wrong type", { decision: true }],
      ["a reason of the wrong type", { ...GRANT, reason: 7 }],
    ])("refuses %s and still waits", async (_, value) => {
      const runId = await host().waits("governed");
      expect(refusal(await host().answer(runId, value, { key: AMY }))).toEqual([400, "INVALID_RESUME_VALUE"]);
      expect(await statusOf(runId)).toBe("waiting-approval");
    });
  });

  describe("an override", () => {
    const OVERRIDE = { ...GRANT, override: true, reason: "the site is down" };

    test("needs its role and a reason", async () => {
      const runId = await host().waits("governed-bypass");
      expect(refusal(await host().answer(runId, OVERRIDE, { key: AMY }))).toEqual([403, "forbidden"]);
      for (const reason of [undefined, "", "  "]) {
        const answer = await host().answer(runId, { ...OVERRIDE, reason });
        expect(refusal(answer)).toEqual([400, "INVALID_RESUME_VALUE"]);
      }
      expect(await statusOf(runId)).toBe("waiting-approval");
      const plain = await host().waits("governed");
      expect(refusal(await host().answer(plain, OVERRIDE))).toEqual([403, "forbidden"]);
    });

    test("opens alone where the gate says so, and is audited", async () => {
      const runId = await host().waits("governed-bypass");
      expect((await host().answer(runId, OVERRIDE)).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      expect(await host().payloads(runId, "approval.overridden")).toEqual([
        { gateId: "gate", principal: "owner", reason: "the site is down" },
      ]);
      expect(await auditOf(runId)).toContain("approval.overridden");
    });

    test("is one vote among others where it does not", async () => {
      const runId = await host().waits("governed-override");
      await host().answer(runId, OVERRIDE);
      expect(await statusOf(runId)).toBe("waiting-approval");
      expect(await host().payloads(runId, "approval.granted")).toEqual([
        { gateId: "gate", principal: "owner", quorumProgress: { granted: 1, required: 2 } },
      ]);
      await host().answer(runId, GRANT, { key: AMY });
      expect((await host().ends(runId)).status).toBe("completed");
      expect(await auditOf(runId)).toContain("approval.overridden");
    });
  });

  async function auditOf(runId: string): Promise<string[]> {
    const actions: string[] = [];
    for (let fromSeq: number | undefined = 1; fromSeq !== undefined; ) {
      const path: string = `/v1/host/assay/audit/entries?limit=1000&fromSeq=${fromSeq}`;
      const { json } = await host().ask("GET", path);
      for (const entry of json.entries) if (entry.target === runId) actions.push(entry.action);
      fromSeq = json.nextSeq;
    }
    return actions;
  }
}
