import { describe, expect, test } from "vitest";
import { ANA, codeOf, refusalOf, somebody } from "../../../testing/judges.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { expectRefused, waitingGovernedGate } from "../../../testing/simulated-gates.ts";
import { expectStillWaits, interruptOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";

const GRANT = { decision: "granted" };
const REJECT = { decision: "rejected" };
const refused = (run: Simulation, by: typeof ANA, value: object = GRANT, code?: string) =>
  expectRefused(run, by, value, code);

describe("an answer that a governed gate cannot take", () => {
  test.each([
    ["nothing", null],
    ["a text", "granted"],
    ["a list", [GRANT]],
    ["an empty object", {}],
    ["a decision nobody knows", { decision: "maybe" }],
    ["the word of the plain gate's older form", { decision: "approved" }],
    ["a decision in capitals", { decision: "GRANTED" }],
    ["a decision that is no text", { decision: true }],
    ["an action that only plain gates have", { action: "edit-accept", editedArtifactData: {} }],
    ["an action nobody knows", { action: "constructor" }],
    ["an action against the decision", { ...GRANT, action: "reject" }],
    ["a decision against the action", { ...REJECT, action: "accept" }],
    ["a reason that is no text", { ...GRANT, reason: { why: "not" } }],
    ["an override that is no yes or no", { ...GRANT, override: "yes", reason: "Because." }],
    ["a voter without a name", { ...GRANT, voter: "" }],
  ])("is refused and the run still waits: %s", (_, value) => {
    const run = waitingGovernedGate();
    const before = run.events.length;
    expect(codeOf(() => run.resolve("gate", value))).toBe("INVALID_RESUME_VALUE");
    expect(run.events).toHaveLength(before);
    expect(run.audit).toEqual([]);
    expectStillWaits(run);
  });

  test("is not even looked at from somebody who may not decide", () => {
    refused(waitingGovernedGate({ requiredRole: "admin" }), ANA, { decision: "maybe" });
  });

  test("is refused by the author's own schema", () => {
    const resumeSchema = { required: ["ticket"], properties: { ticket: { pattern: "^T-" }, decision: {} } };
    const run = waitingGovernedGate({ requiredRole: "reviewer", resumeSchema });
    refused(run, ANA, GRANT, "INVALID_RESUME_VALUE");
    refused(run, ANA, { ...GRANT, ticket: "7" }, "INVALID_RESUME_VALUE");
    run.resolve("gate", { ...GRANT, ticket: "T-7" }).go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ approved: true, ticket: "T-7" });
  });

  test("cannot claim to be what it is not: what the node hands on says what was decided", () => {
    const lie = { ...REJECT, approved: true, outcome: "granted", action: undefined, decidedBy: "the board" };
    const run = waitingGovernedGate()
      .resolve("gate", JSON.parse(JSON.stringify(lie)))
      .go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({
      decision: "rejected",
      outcome: "rejected",
      action: "reject",
      approved: false,
      decidedBy: "ana",
    });
    expect(run.run.nodes["next"]?.status).toBe("skipped");
  });
});

describe("what the last voter writes beside a decision", () => {
  const lie = { output: { decision: "rejected" }, route: { decision: "rejected" }, ticket: "T-7" };

  test("does not choose the edge that is taken", () => {
    for (const sourceOutput of [undefined, "route"]) {
      const condition = { type: "equals", left: "output.decision", right: "granted" } as const;
      const run = simulate(
        workflow({
          nodes: {
            gate: { typeId: "core.openwop.governance.approvalGate", config: { requiredRole: "reviewer" } },
            next: "core.noop",
          },
          edges: [{ from: "gate", to: "next", condition, ...(sourceOutput === undefined ? {} : { sourceOutput }) }],
        }),
      ).turn();
      run.resolve("gate", { ...GRANT, ...lie }).go();
      expect(run.run.nodes["next"]?.status).toBe("completed");
    }
  });

  test("is handed on where the author's schema names it", () => {
    const resumeSchema = { properties: { ticket: { type: "string" } } };
    const run = waitingGovernedGate({ requiredRole: "reviewer", resumeSchema })
      .resolve("gate", { ...GRANT, ...lie })
      .go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ ticket: "T-7" });
    expect(run.run.nodes["gate"]?.outputs).not.toHaveProperty("output");
  });
});

describe("a gate that asks for the evidence of an evaluation", () => {
  const requiredEval = { evalRunId: "run-eval", requiredPassScore: 0.9 };
  const config = { requiredRole: "reviewer", requiredEval, override: { requiredRole: "owner" } };

  test("stays closed while there is none, for an override as well", () => {
    const run = waitingGovernedGate(config);
    const before = run.events.length;
    expect(refusalOf(() => run.resolve("gate", GRANT))).toMatchObject({
      code: "eval_gate_unmet",
      details: { requiredEval },
    });
    const override = { ...GRANT, override: true, reason: "I know it works." };
    refused(run, somebody("boss", { roles: ["owner"] }), override, "eval_gate_unmet");
    expect(run.events).toHaveLength(before);
    expect(interruptOf(run).votes).toEqual([]);
  });

  const met = { condition: "score", wanted: "passed", found: "passed", met: true };
  const evidence = (...conditions: readonly (typeof met)[]) => ({ conditions, preconditions: [] });

  test("stays closed while any of it is missing, and where nothing was looked at", () => {
    const run = waitingGovernedGate(config);
    const stale = { ...met, condition: "age", found: "9 days", met: false };
    for (const found of [evidence(met, stale), evidence(stale, met), evidence()]) {
      const details = { conditions: found.conditions };
      expect(refusalOf(() => run.resolve("gate", GRANT, ANA, found))).toMatchObject({
        code: "eval_gate_unmet",
        details,
      });
      expectStillWaits(run);
    }
    expect(run.audit.map(({ action }) => action)).toEqual(Array(3).fill("interrupt.evidence_unmet"));
    run.resolve("gate", GRANT, ANA, evidence(met, { ...stale, met: true })).go();
    expect(run.run.nodes["next"]?.status).toBe("completed");
  });

  test("asks for it at every vote, and not of somebody who has voted and says so again", () => {
    const run = waitingGovernedGate({ ...config, quorum: 2 });
    run.resolve("gate", GRANT, ANA, evidence(met));
    run.resolve("gate", GRANT, ANA);
    refused(run, somebody("ben"), GRANT, "eval_gate_unmet");
    expect(interruptOf(run).votes).toHaveLength(1);
    run.resolve("gate", GRANT, somebody("ben"), evidence(met)).go();
    expect(run.run.nodes["next"]?.status).toBe("completed");
  });

  test("can be rejected without any", () => {
    expect(waitingGovernedGate(config).resolve("gate", REJECT).go().run.nodes["repair"]?.status).toBe("completed");
  });
});
