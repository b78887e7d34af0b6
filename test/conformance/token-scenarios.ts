import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";
import { READER } from "./keys.ts";

const ACCEPT = { action: "accept" };

/** The token surface, status by status. */
export function tokenScenarios(host: () => OutsideHost): void {
  const tokenOf = async (runId: string): Promise<string> =>
    (await host().ask("GET", `/v1/runs/${runId}`)).json.interrupt.interruptToken;

  /** On a busy machine its deadline may pass before anybody looks; then another is asked for. */
  async function shortLived(): Promise<{ runId: string; token: string }> {
    for (;;) {
      const runId = await host().begin("approval-short");
      const { interrupt } = await host().reaches(runId, "waiting-approval", "failed");
      if (interrupt !== undefined) return { runId, token: interrupt.interruptToken };
    }
  }

  describe("a token", () => {
    test("shows its interrupt and answers it, with no key", async () => {
      const runId = await host().waits("approval");
      const token = await tokenOf(runId);
      const seen = await host().byToken(token);
      expect(seen.status).toBe(200);
      expect(seen.headers.get("cache-control")).toContain("no-store");
      expect(seen.json).toMatchObject({ kind: "approval", data: { title: "Ship it?" } });
      for (const name of ["key", "requestedAt", "expiresAt"]) expect(seen.json[name], name).toEqual(expect.any(String));
      expect(refusal(await host().byToken(token, { action: "perhaps" }))).toEqual([400, "validation_error"]);
      expect((await host().byToken(token, ACCEPT)).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
    });

    test("is dead once its interrupt is answered", async () => {
      const runId = await host().waits("approval");
      const token = await tokenOf(runId);
      await host().answer(runId, ACCEPT);
      expect(refusal(await host().byToken(token, ACCEPT))).toEqual([409, "interrupt_already_resolved"]);
      expect(refusal(await host().byToken(token))).toEqual([409, "interrupt_already_resolved"]);
    });

    test("is dead once its run is cancelled; with a key that is 422", async () => {
      const runId = await host().waits("approval");
      const token = await tokenOf(runId);
      await host().ask("POST", `/v1/runs/${runId}/cancel`, { body: {} });
      expect(refusal(await host().byToken(token, ACCEPT))).toEqual([409, "interrupt_already_resolved"]);
      expect(refusal(await host().answer(runId, ACCEPT))).toEqual([422, "interrupt_cancelled"]);
      expect((await host().ends(runId)).status).toBe("cancelled");
    });

    test("does not outlive the deadline of its interrupt", async () => {
      const { runId, token } = await shortLived();
      await host().reaches(runId, "failed");
      expect(refusal(await host().byToken(token, ACCEPT))).toEqual([410, "interrupt_expired"]);
      expect(refusal(await host().byToken(token))).toEqual([410, "interrupt_expired"]);
    });

    test("that was tampered with, or is none, opens nothing", async () => {
      const runId = await host().waits("approval");
      const other = await host().waits("approval");
      const [payload = "", mac = ""] = (await tokenOf(runId)).split(".");
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
      expect(claims).toMatchObject({ runId, nodeId: "gate", intent: "resolve", expiresAt: expect.any(String) });
      const forged = (changes: object) =>
        `${Buffer.from(JSON.stringify({ ...claims, ...changes })).toString("base64url")}.${mac}`;
      for (const wrong of [
        forged({ runId: other }),
        forged({ expiresAt: "2999-01-01T00:00:00.000Z" }),
        `${payload}.${mac.startsWith("A") ? "B" : "A"}${mac.slice(1)}`,
        `${payload}.${(await tokenOf(other)).split(".")[1]}`,
      ]) {
        expect(refusal(await host().byToken(wrong))).toEqual([404, "interrupt_not_found"]);
        expect(refusal(await host().byToken(wrong, ACCEPT))).toEqual([404, "interrupt_not_found"]);
      }
      const long = "A".repeat(4000);
      for (const unknown of ["x", "a.b.c.d.e", "%00", "%20", "%zz", "a%2Fb", "a:b", `${payload}.`, "e30.e30", long]) {
        expect(refusal(await host().byToken(unknown))).toEqual([404, "interrupt_not_found"]);
        expect(refusal(await host().byToken(unknown, ACCEPT))).toEqual([404, "interrupt_not_found"]);
        const bodiless = await host().ask("POST", `/v1/interrupts/${unknown}`, { key: "", body: "{" });
        expect(bodiless.status).toBe(404);
      }
      for (const id of [runId, other]) {
        expect((await host().ask("GET", `/v1/runs/${id}`)).json.status).toBe("waiting-approval");
      }
    });

    test("is for those who may answer, and in no event", async () => {
      const runId = await host().waits("approval");
      const token = await tokenOf(runId);
      const seen = await host().ask("GET", `/v1/runs/${runId}`, { key: READER });
      expect(seen.json.interrupt.nodeId).toBe("gate");
      expect(seen.text).not.toContain("interruptToken");
      expect(JSON.stringify(await host().events(runId))).not.toContain(token.split(".")[1]);
    });
  });

  describe("an answer to nothing", () => {
    test("is not found, on a run that waits and on one that never did", async () => {
      const runId = await host().waits("approval");
      expect(refusal(await host().answer(runId, ACCEPT, { node: "after" }))).toEqual([404, "interrupt_not_found"]);
      expect(refusal(await host().answer(runId, ACCEPT, { node: "nowhere" }))).toEqual([404, "interrupt_not_found"]);
      expect(refusal(await host().answer("run-x", ACCEPT))).toEqual([404, "not_found"]);
      const done = await host().begin("noop");
      await host().ends(done);
      expect(refusal(await host().answer(done, ACCEPT, { node: "noop" }))).toEqual([404, "interrupt_not_found"]);
    });

    test("that is no answer is refused by its form", async () => {
      const runId = await host().waits("approval");
      for (const body of ["{", "[]", "{}", JSON.stringify({ resumeValue: ACCEPT, voter: "v1" })]) {
        const answer = await host().ask("POST", `/v1/runs/${runId}/interrupts/gate`, { body });
        expect(refusal(answer)).toEqual([400, "validation_error"]);
      }
    });
  });
}
