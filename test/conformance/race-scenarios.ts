import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";

const ACCEPT = { action: "accept" };
const AT_ONCE = 12;
const TIMES = 8;

/** Several who want to decide the same thing. */
export function raceScenarios(host: () => OutsideHost): void {
  describe("a race", () => {
    test("between answers has one winner, and the others are told", async () => {
      for (let i = 0; i < TIMES; i++) {
        const runId = await host().waits("approval");
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => host().answer(runId, ACCEPT)));
        const lost = answers.filter((answer) => answer.status !== 200);
        expect(lost).toHaveLength(AT_ONCE - 1);
        for (const answer of lost) expect(refusal(answer)).toEqual([409, "interrupt_already_resolved"]);
        expect((await host().ends(runId)).status).toBe("completed");
        expect(await host().payloads(runId, "interrupt.resolved")).toHaveLength(1);
      }
    });

    test("between yes and no has one outcome, and the log agrees with the answers", async () => {
      for (let i = 0; i < TIMES; i++) {
        const runId = await host().waits("approval");
        const [yes, no] = await Promise.all([host().answer(runId, ACCEPT), host().answer(runId, { action: "reject" })]);
        expect([yes.status, no.status].sort()).toEqual([200, 409]);
        expect((await host().ends(runId)).status).toBe(yes.status === 200 ? "completed" : "failed");
      }
    });

    test("between an answer and a cancellation ends the run one way or the other", async () => {
      for (let i = 0; i < TIMES; i++) {
        const runId = await host().waits("approval");
        const [answer, cancel] = await Promise.all([
          host().answer(runId, ACCEPT),
          host().ask("POST", `/v1/runs/${runId}/cancel`, { body: {} }),
        ]);
        expect(cancel.status).toBe(200);
        const { status } = await host().ends(runId);
        const resolved = await host().payloads(runId, "interrupt.resolved");
        if (answer.status === 200) expect(resolved).toHaveLength(1);
        else expect([refusal(answer), status, resolved]).toEqual([[422, "interrupt_cancelled"], "cancelled", []]);
        if (status === "cancelled") expect(["cancelled", "cancelling"]).toContain(cancel.json.status);
        else expect([status, cancel.json.status]).toEqual(["completed", "completed"]);
      }
    });

    test("between many voters releases a quorum of three with three of them", async () => {
      for (let i = 0; i < TIMES; i++) {
        const runId = await host().waits("quorum");
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, n) => host().answer(runId, { ...ACCEPT, voter: `v${n % 4}` })),
        );
        for (const answer of answers) expect([200, 409]).toContain(answer.status);
        expect((await host().ends(runId)).status).toBe("completed");
        const events = await host().events(runId);
        const decided = events.findIndex((event) => event.type === "interrupt.resolved");
        const votes = events.slice(0, decided).filter((event) => event.type === "assay.vote.recorded");
        expect(new Set(votes.map((event) => event.payload.voter)).size).toBe(3);
        expect(events.filter((event) => event.type === "interrupt.resolved")).toHaveLength(1);
      }
    });
  });
}
