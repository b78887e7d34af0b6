import { describe, expect, test } from "vitest";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import { refusalOf } from "../../testing/judges.ts";
import { simulate } from "../../testing/simulate.ts";
import { workflow } from "../../testing/workflow.ts";
import { checkWorkflow } from "../workflows/check-workflow.ts";
import { NODE_TYPES } from "./all.ts";

const GOVERNED = "core.openwop.governance.approvalGate";
const withGate = (typeId: string, config: object) => workflow({ nodes: { gate: { typeId, config: { ...config } } } });
const refusal = (typeId: string, config: object) =>
  refusalOf(() => checkWorkflow(NODE_TYPES, withGate(typeId, config)));
const expectRefused = (typeId: string, config: object, problem: RegExp) => {
  const { code, details } = refusal(typeId, config) ?? {};
  expect(code).toBe("validation_error");
  expect(String(details?.["problem"])).toMatch(problem);
};
/** What an accepted config makes its gate ask. */
const asked = (typeId: string, config: object, request: object = {}) => {
  expect(refusal(typeId, config)).toBeUndefined();
  const { run } = simulate(withGate(typeId, config), request).turn();
  return Object.values(run.interrupts)[0];
};

describe("a plain gate", () => {
  test("needs nothing said: it asks for one accept, under its own name", () => {
    expect(asked("core.approvalGate", {})).toMatchObject({
      kind: "approval",
      data: { artifactId: "gate", artifactType: "approval", title: "gate", actions: ["accept", "reject"] },
    });
  });

  test("passes on every rule it is given", () => {
    const rules = {
      requiredApprovals: 2,
      rejectionPolicy: "majority",
      approversList: ["ana", "ben"],
      approverGroupRefs: ["finance"],
      approverRoleRefs: ["admin"],
      audience: { groups: ["finance"] },
      forbidSelfApproval: true,
      minHumans: 1,
    };
    const profile = "openwop-interrupt-auth-required";
    const gate = asked("core.approvalGate", { ...rules, profile, timeoutSec: 1.5, resumeSchema: { type: "object" } });
    expect(gate).toMatchObject({ data: rules, profile, resumeSchema: { type: "object" } });
    expect((gate?.deadlineMs ?? 0) - Date.parse(gate?.requestedAt ?? "")).toBe(1500);
  });

  test("judges the artifact that it is given, before the one in its config", () => {
    const gate = (inputs: object) =>
      workflow({
        nodes: { gate: { typeId: "core.approvalGate", config: { artifactData: "config" }, inputs: inputs as never } },
      });
    for (const port of ["artifact", "artifactData"]) {
      const { run } = simulate(gate({ [port]: { type: "static", value: { n: 1 } } })).turn();
      expect(Object.values(run.interrupts)[0]?.data).toMatchObject({ artifactData: { n: 1 } });
    }
    expect(Object.values(simulate(gate({})).turn().run.interrupts)[0]?.data).toMatchObject({ artifactData: "config" });
  });

  test.each([
    ["no actions", { actions: [] }, /actions/],
    ["an action nobody knows", { actions: ["accept", "edit"] }, /actions/],
    ["an action twice", { actions: ["accept", "accept"] }, /actions/],
    ["no approvals", { requiredApprovals: 0 }, /requiredApprovals/],
    ["approvals in words", { requiredApprovals: "2" }, /requiredApprovals/],
    ["a policy nobody knows", { rejectionPolicy: "consensus" }, /rejectionPolicy/],
    ["people in words", { minHumans: "1" }, /minHumans/],
    ["a prohibition in words", { forbidSelfApproval: "yes" }, /forbidSelfApproval/],
    ["approvers that are no list", { approversList: "ana" }, /approversList/],
    ["an approver without a name", { approversList: [""] }, /approversList/],
    ["a profile nobody knows", { profile: "openwop-interrupt-quroum" }, /profile/],
    ["a schema that is none", { resumeSchema: { type: "nonsense" } }, /resumeSchema is not a usable/],
    ["a title that no inbox could show", { title: "x".repeat(1025) }, /title/],
    ["a time limit in the past", { timeoutMs: -1 }, /timeoutMs/],
    ["a time limit of no time", { timeoutSec: 0 }, /timeoutSec/],
    [
      "more approvals than approvers",
      { approversList: ["a", "a", "b"], requiredApprovals: 3 },
      /3 .* names 2 approvers/,
    ],
    ["more people than approvers", { approversList: ["a"], minHumans: 2 }, /asks for 2 approvals and names 1 approver/],
    ["a role, which it would not ask for", { requiredRole: "admin" }, /requiredRole.*governance/],
    ["a scope, which it would not ask for", { requiredScope: "deploy:promote" }, /requiredScope.*governance/],
    ["a quorum, which it would not wait for", { quorum: 3 }, /quorum.*governance/],
    ["evidence, which it would not ask for", { requiredEval: { evalRunId: "r" } }, /requiredEval.*governance/],
  ])("is refused with %s", (_, config, problem) => {
    expectRefused("core.approvalGate", config, problem);
  });

  test("may have fewer names than approvals where groups or roles add to them", () => {
    const config = { approversList: ["ana"], approverGroupRefs: ["finance"], requiredApprovals: 3 };
    expect(refusal("core.approvalGate", config)).toBeUndefined();
  });
});

describe("what waits and holds to no rule of a gate", () => {
  const doubt = { agentId: "writer", threshold: 0.7, observed: 0.4 };
  const questions = [{ id: "city", question: "Which city?" }];

  test.each([
    ["an approval with its rules beside its data", "core.interrupt", { kind: "approval", requiredApprovals: 2 }],
    ["questions", "core.clarificationGate", { questions, approversList: ["ana"] }],
    ["something of one's own", "core.interrupt", { kind: "custom", data: { customKind: "x" }, minHumans: 1 }],
    ["doubt, in its data", "core.interrupt", { kind: "low-confidence", data: { ...doubt, forbidSelfApproval: true } }],
    ["doubt, beside its data", "core.interrupt", { kind: "low-confidence", data: doubt, requiredRole: "owner" }],
    ["a supervisor", "core.orchestrator.supervisor", { approversList: ["ana"] }],
    ["a sub-workflow", "core.subWorkflow", { workflowId: "w", requiredApprovals: 2 }],
    ["a node of any other type", "core.noop", { forbidSelfApproval: true }],
    ["an approval, in words of its own", "core.interrupt", { kind: "approval", data: { approverList: ["ana"] } }],
  ])("is refused with one: %s", (_, typeId, config) => {
    expectRefused(typeId, config, /would not be held to/);
  });

  test.each([
    ["a plain gate", "core.approvalGate", {}],
    ["a governed gate", GOVERNED, { requiredRole: "reviewer" }],
    ["questions", "core.clarificationGate", { questions }],
    ["doubt", "core.interrupt", { kind: "low-confidence", data: doubt }],
  ])("is refused with one among its inputs: %s", (_, typeId, config) => {
    const approversList = { type: "variable", variableName: "approvers" } as const;
    const gate = { typeId, config: { ...config } };
    const byPort = workflow({ nodes: { gate: { ...gate, inputs: { approversList } } } });
    const byEdge = workflow({
      nodes: { before: "core.noop", gate },
      edges: [{ from: "before", to: "gate", targetInput: "approversList" }],
    });
    for (const one of [byPort, byEdge]) {
      const { details } = refusalOf(() => checkWorkflow(NODE_TYPES, one)) ?? {};
      expect(String(details?.["problem"])).toMatch(/approversList, which would not be held to/);
    }
  });

  test("settings of a node or of the workflow are refused with one", () => {
    const settings = { requiredApprovals: 2 };
    for (const spec of [
      { nodes: { gate: { typeId: "core.approvalGate", settings } } },
      { nodes: { gate: "core.noop" }, settings },
    ]) {
      const { code, details } = refusalOf(() => checkWorkflow(NODE_TYPES, workflow(spec as never))) ?? {};
      expect([code, String(details?.["problem"])]).toEqual([
        "validation_error",
        expect.stringMatching(/settings.*requiredApprovals/),
      ]);
    }
  });

  test.each([
    ["core.approvalGate", { approverslist: ["ana"] }, /approverslist, .* did you mean approversList/],
    ["core.approvalGate", { approvers: ["ana"] }, /sets approvers, which it does not know; it knows .*approversList/],
    ["core.approvalGate", { data: { approversList: ["ana"] } }, /sets data, which it does not know/],
    [GOVERNED, { requiredRole: "reviewer", quorom: 2 }, /quorom, .* did you mean quorum/],
    ["core.clarificationGate", { questions, timeoutMS: 1000 }, /timeoutMS, .* did you mean timeoutMs/],
    ["core.interrupt", { kind: "approval", datas: {} }, /datas, .* did you mean data/],
    ["core.interrupt", { kind: "approval", data: { approvers: ["ana"] } }, /approvers, .* did you mean approversList/],
  ])("%s is refused with a member that it does not know: %j", (typeId, config, problem) => {
    expectRefused(typeId, config, problem);
  });

  test("may say that it asks for none", () => {
    const config = { questions, approversList: [], forbidSelfApproval: false, minHumans: 0 };
    expect(refusal("core.clarificationGate", config)).toBeUndefined();
  });
});

describe("a governed gate", () => {
  const rules = {
    requiredRole: "reviewer",
    requiredScope: "approvals:respond",
    quorum: 2,
    override: { requiredRole: "owner", audited: true },
    overrideBypassesQuorum: true,
    requiredEval: { evalRunId: "run-1", requiredPassScore: 0.9 },
    forbidSelfApproval: true,
    minHumans: 1,
    audience: { roles: ["admin"] },
  };

  test("passes on every rule it is given, and wants a key to be decided with", () => {
    expect(asked(GOVERNED, rules)).toMatchObject({
      data: { gateId: "gate", actions: ["accept", "reject"], ...rules },
      profile: "openwop-interrupt-auth-required",
    });
  });

  test.each([
    ["in seconds", { timeoutSec: 2 }, 2000],
    ["in milliseconds", { timeoutMs: 250 }, 250],
  ])("has the time limit that it is given %s", (_, limit, ms) => {
    const gate = asked(GOVERNED, { requiredRole: "reviewer", ...limit });
    expect((gate?.deadlineMs ?? 0) - Date.parse(gate?.requestedAt ?? "")).toBe(ms);
  });

  test.each([
    ["neither a role nor a scope", {}, /requiredRole or requiredScope/],
    ["a role without a name", { requiredRole: "", requiredScope: "a:b" }, /requiredRole/],
    ["a list of roles", { requiredRole: ["admin"] }, /requiredRole/],
    ["a quorum of nobody", { requiredRole: "admin", quorum: 0 }, /quorum/],
    ["a quorum in words", { requiredRole: "admin", quorum: "2" }, /quorum/],
    ["an override for anybody", { requiredRole: "admin", override: {} }, /override/],
    ["an override by mere consent", { requiredRole: "admin", override: true }, /override/],
    [
      "an override that leaves no trace",
      { requiredRole: "admin", override: { requiredRole: "owner", audited: false } },
      /override/,
    ],
    ["a bypass without an override", { requiredRole: "admin", overrideBypassesQuorum: true }, /without an override/],
    ["evidence of nothing", { requiredRole: "admin", requiredEval: {} }, /requiredEval/],
    ["evidence of anything", { requiredRole: "admin", requiredEval: { agentId: "a.b" } }, /any evaluation would do/],
    ["evidence by any agent", { requiredRole: "admin", requiredEval: { suite: "a.evals.b@1.0.0" } }, /any evaluation/],
    [
      "the content of a suite that it does not name",
      { requiredRole: "admin", requiredEval: { evalRunId: "r", suiteSha256: "0".repeat(64) } },
      /without its suite/,
    ],
    ["evidence of a kind nobody knows", { requiredRole: "admin", requiredEval: { evalRunId: "r", when: 1 } }, /when/],
    [
      "a score beyond reach",
      { requiredRole: "admin", requiredEval: { evalRunId: "r", requiredPassScore: 2 } },
      /Score/,
    ],
    ["a schema that is none", { requiredRole: "admin", resumeSchema: { $ref: "#/nowhere" } }, /resumeSchema/],
    ["approvers, whom it would not ask for", { requiredRole: "admin", approversList: ["ana"] }, /approversList.*core/],
    [
      "a count, which it would not wait for",
      { requiredRole: "admin", requiredApprovals: 2 },
      /requiredApprovals.*core/,
    ],
  ])("is refused with %s", (_, config, problem) => {
    expectRefused(GOVERNED, config, problem);
  });
});

describe("a node that asks questions", () => {
  const questions = [{ id: "a", question: "A?", schema: { type: "string" } }];

  test("asks them as they are", () => {
    expect(asked("core.clarificationGate", { questions, contextType: "order" })).toMatchObject({
      kind: "clarification",
      data: { questions, contextType: "order" },
    });
  });

  test.each([
    ["no questions", {}, /questions/],
    ["an empty list", { questions: [] }, /questions/],
    ["a question without words", { questions: [{ id: "a", question: "" }] }, /question/],
    ["two questions of one id", { questions: [...questions, ...questions] }, /two questions with id "a"/],
    ["a schema that is none", { questions: [{ id: "a", question: "A?", schema: { type: 7 } }] }, /question "a"/],
  ])("is refused with %s", (_, config, problem) => {
    expectRefused("core.clarificationGate", config, problem);
  });
});

describe("the primitive as a node", () => {
  test("takes what is missing from its inputs", () => {
    const definition = workflow({
      nodes: {
        gate: {
          typeId: "core.interrupt",
          config: { kind: "external-event", data: { eventType: "paid" } },
          inputs: { correlation: { type: "variable", variableName: "order" } },
        },
      },
      variables: [{ name: "order", type: "object" }],
    });
    const { run } = simulate(definition, { inputs: { order: { id: 7 } } }).turn();
    expect(Object.values(run.interrupts)[0]?.data).toEqual({ eventType: "paid", correlation: { id: 7 } });
  });

  describe("that waits for an external event", () => {
    const waits = (data: object, inputs: WorkflowNode["inputs"] = {}) =>
      workflow({
        nodes: {
          before: "core.identity",
          gate: { typeId: "core.interrupt", config: { kind: "external-event", data }, inputs },
        },
        edges: ["before>gate"],
      });

    test.each([
      ["no correlation", waits({ eventType: "paid" }), /no data.correlation and no input named correlation/],
      ["no type", waits({ correlation: { id: 7 } }), /no data.eventType and no input named eventType/],
      ["nothing", waits({}), /no input named eventType/],
      [
        "a correlation of nothing as an input",
        waits({ eventType: "paid" }, { correlation: { type: "static", value: {} } }),
        /correlation/,
      ],
    ])("is refused with %s: no event could match", (_, definition, problem) => {
      const { code, details } = refusalOf(() => checkWorkflow(NODE_TYPES, definition)) ?? {};
      expect([code, String(details?.["problem"])]).toEqual(["validation_error", expect.stringMatching(problem)]);
    });

    test("is taken with a correlation from an input or from an edge", () => {
      const port = { correlation: { type: "variable", variableName: "order" } } as const;
      const carried = waits({ eventType: "paid" });
      const edges = carried.edges.map((edge) => ({ ...edge, sourceOutput: "order", targetInput: "correlation" }));
      for (const definition of [waits({ eventType: "paid" }, port), { ...carried, edges }]) {
        expect(checkWorkflow(NODE_TYPES, definition).definition.id).toBe(definition.id);
      }
    });
  });

  test("does not become a governed gate by an input", () => {
    const governed = workflow({
      nodes: {
        gate: {
          typeId: "core.interrupt",
          config: { kind: "approval", data: { title: "May I?" } },
          inputs: { requiredRole: { type: "static", value: "admin" } },
        },
      },
    });
    expect(simulate(governed).go().run).toMatchObject({ status: "failed", error: { code: "interrupt_invalid" } });
  });

  test.each(["branch", "previous"])("is neither registered nor raised with an input named %s", (name) => {
    const inputs = { [name]: { type: "static", value: "docs" } } as const;
    const nodes = { gate: { typeId: "core.interrupt", config: { kind: "approval" }, inputs } };
    const refused = refusalOf(() => checkWorkflow(NODE_TYPES, workflow({ nodes })));
    expect(refused?.details["problem"]).toContain(`gives data.${name}`);
    const registeredBefore = simulate(workflow({ nodes })).go();
    expect(registeredBefore.run).toMatchObject({ status: "failed", error: { code: "interrupt_invalid" } });
  });

  test.each([
    ["no kind", {}, /kind/],
    ["a kind nobody knows", { kind: "telepathy" }, /kind/],
    ["data that is not of its kind", { kind: "external-event", data: { correlation: "7" } }, /correlation/],
    ["approvals in words", { kind: "approval", data: { requiredApprovals: "3" } }, /requiredApprovals/],
    ["a gate's name", { kind: "approval", data: { gateId: "gate" } }, /gateId belongs to/],
    ["what only the host writes", { kind: "approval", data: { branch: "docs" } }, /gives data.branch/],
    ["a role, which it would not ask for", { kind: "approval", data: { requiredRole: "admin" } }, /requiredRole/],
    [
      "more approvals than approvers",
      { kind: "approval", data: { approversList: ["a"], requiredApprovals: 2 } },
      /names 1/,
    ],
    ["a schema that is none", { kind: "custom", resumeSchema: { type: "nonsense" } }, /resumeSchema/],
    ["a time limit in words", { kind: "custom", timeoutMs: "1000" }, /timeoutMs/],
  ])("is refused with %s", (_, config, problem) => {
    expectRefused("core.interrupt", config, problem);
  });
});
