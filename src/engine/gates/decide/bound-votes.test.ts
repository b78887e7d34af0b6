import { describe, expect, test } from "vitest";
import { shownDigest } from "../../../formats/gates/gate-digest.ts";
import type { Interrupt } from "../../../protocol/gates/interrupt.ts";
import { ANA, BEN, BOT, codeOf, refusalOf, somebody } from "../../../testing/judges.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { waitingGate } from "../../../testing/simulated-gates.ts";
import { expectStillWaits, interruptOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";
import { type Binding, requireBound } from "./vote.ts";

const ACCEPT = { action: "accept" };
const actions = ["accept", "reject", "edit-accept", "ask"];
const edit = (data: unknown) => ({ action: "edit-accept", editedArtifactData: data });
const read = (run: Simulation): Binding => {
  const interrupt = interruptOf(run);
  const { interruptId, revision = 0 } = interrupt;
  return { interruptId, revision, artifactDigest: shownDigest(interrupt) };
};
const editable = (more: object = {}) =>
  waitingGate({ actions, requiredApprovals: 2, artifactData: { to: "all" }, ...more });
const vote = (run: Simulation, bound: Binding, by = ANA, value: object = ACCEPT) =>
  refusalOf(() => run.resolve("gate", value, by, undefined, bound));

describe("a vote at a gate whose artifact can be edited", () => {
  test("counts with what was read", () => {
    const run = editable();
    expect(vote(run, read(run))).toBeUndefined();
    expect(interruptOf(run).votes).toHaveLength(1);
  });

  test("says what it is for also where one approval suffices, and an agent's edit leaves the gate open for a person", () => {
    const run = editable({ requiredApprovals: 1, minHumans: 1 });
    const before = read(run);
    run.resolve("gate", edit({ to: "nobody" }), BOT, undefined, before);
    expect(interruptOf(run)).toMatchObject({ status: "open", revision: 1 });
    for (const bound of [{}, before]) expect(vote(run, bound)).toMatchObject({ code: "vote_not_bound" });
    expect(vote(run, read(run))).toBeUndefined();
    expect(interruptOf(run).status).toBe("resolved");
  });

  test("is refused for the artifact before an edit, with what changed", () => {
    const run = editable();
    const before = read(run);
    run.resolve("gate", edit({ to: "nobody" }), BEN);
    const after = read(run);
    expect(after.revision).toBe(1);
    expect(vote(run, before)).toMatchObject({
      code: "vote_not_bound",
      details: {
        ...after,
        missing: [],
        changed: [
          { name: "revision", given: 0, current: 1 },
          { name: "artifactDigest", given: before.artifactDigest, current: after.artifactDigest },
        ],
      },
    });
    expectStillWaits(run);
  });

  test.each(["interruptId", "revision", "artifactDigest"] as const)("is refused without %s", (name) => {
    const run = editable();
    const { [name]: _, ...rest } = read(run);
    expect(vote(run, rest)).toMatchObject({ code: "vote_not_bound", details: { missing: [name], changed: [] } });
    expectStillWaits(run);
  });

  test("need not say it where the gate waives it, and is checked all the same when it does", () => {
    const run = editable({ requireBoundVotes: false });
    expect(vote(run, { revision: 3 })).toMatchObject({ code: "vote_not_bound" });
    expect(vote(run, {})).toBeUndefined();
  });

  test("of a principal that may not vote is refused for that first", () => {
    const run = editable({ approversList: ["ben", "chi"] });
    expect(vote(run, {}, ANA)).toMatchObject({ code: "forbidden" });
    expect(vote(run, {}, BEN)).toMatchObject({ code: "vote_not_bound" });
    const own = editable({ forbidSelfApproval: true });
    expect(vote(own, {}, somebody("p1"))).toMatchObject({ code: "forbidden" });
  });

  test("that is only a question need not say it", () => {
    const run = editable();
    expect(vote(run, {}, ANA, { action: "ask", question: "Who is all?" })).toBeUndefined();
  });

  test("at one that offers no edit need not say it", () => {
    expect(vote(editable({ actions: ["accept", "reject"] }), {})).toBeUndefined();
  });

  test("by a link must still name interrupt and revision", () => {
    const run = editable();
    expect(vote(run, { byLink: true })).toMatchObject({ details: { missing: ["interruptId", "revision"] } });
  });

  test("at one that a single approval ends need not say it: an edit closes that gate", () => {
    expect(vote(editable({ requiredApprovals: 1 }), {})).toBeUndefined();
  });
});

describe("a vote at a gate that was visited before in this run", () => {
  const looping = (more: object = {}) => {
    const config = { requiredRole: "reviewer", ...more };
    const nodes = { draft: "core.noop", gate: { typeId: "core.openwop.governance.approvalGate", config } } as const;
    const condition = { type: "equals", left: "output.decision", right: "rejected" } as const;
    const edges = ["draft>gate", { from: "gate", to: "draft", condition }];
    return simulate(workflow({ nodes, edges: edges as never })).go();
  };
  const GRANTED = { decision: "granted" };

  test("is refused without saying which visit it is for, or with the one before", () => {
    const run = looping();
    const first = read(run);
    expect(codeOf(() => run.resolve("gate", { decision: "rejected" }, BEN, undefined, {}))).toBeUndefined();
    run.go();
    expect(vote(run, {}, ANA, GRANTED)).toMatchObject({
      code: "vote_not_bound",
      details: { missing: ["interruptId", "revision", "artifactDigest"] },
    });
    expect(vote(run, first, ANA, GRANTED)).toMatchObject({
      code: "vote_not_bound",
      details: { changed: [{ name: "interruptId", given: first.interruptId, current: read(run).interruptId }] },
    });
    expect(vote(run, read(run), ANA, GRANTED)).toBeUndefined();
  });

  test("need not say it for another gate that was decided before", () => {
    const nodes = { first: "core.approvalGate", gate: "core.approvalGate" } as const;
    const run = simulate(workflow({ nodes, edges: ["first>gate"] })).go();
    run.resolve("first", ACCEPT, BEN).go();
    expect(vote(run, {})).toBeUndefined();
  });

  test("need not say it where the gate waives it", () => {
    const run = looping({ requireBoundVotes: false }).resolve("gate", { decision: "rejected" }, BEN).go();
    expect(vote(run, {}, ANA, GRANTED)).toBeUndefined();
  });

  test("need not say it where the earlier visit was in the source of a branch, and must where it was in this run", () => {
    const { run } = waitingGate();
    const [interrupt] = Object.values(run.interrupts) as [Interrupt];
    const voteAfter = (earlier: Partial<Interrupt>) => {
      const before: Interrupt = { ...interrupt, interruptId: "int-before", status: "resolved", ...earlier };
      const after = { ...run, interrupts: { [before.interruptId]: before, ...run.interrupts } };
      return codeOf(() => requireBound(after, interrupt, { given: {}, secrets: [], isVote: true }));
    };
    expect(voteAfter({ inherited: true })).toBeUndefined();
    expect(voteAfter({})).toBe("vote_not_bound");
  });

  test("by a link made for it needs no more; the link names interrupt and revision", () => {
    const run = looping().resolve("gate", { decision: "rejected" }, BEN).go();
    const { interruptId, revision = 0 } = read(run);
    const bound = { ...(interruptId === undefined ? {} : { interruptId }), revision, byLink: true } as const;
    expect(vote(run, bound, ANA, GRANTED)).toBeUndefined();
  });
});

describe("what was read", () => {
  test("is checked at any gate when it is given, and not asked for", () => {
    const run = waitingGate();
    expect(vote(run, { interruptId: "int-other" })).toMatchObject({ code: "vote_not_bound" });
    expect(vote(run, { artifactDigest: "0".repeat(64) })).toMatchObject({ code: "vote_not_bound" });
    expect(vote(run, {})).toBeUndefined();
  });

  test("keeps the answer of a gate that is decided already", () => {
    const run = waitingGate().resolve("gate", ACCEPT, BEN);
    expect(vote(run, { revision: 7 })).toMatchObject({ code: "interrupt_already_resolved" });
  });

  test("has one digest for one content, whatever the visit is called", () => {
    const shown = (data: object): Pick<Interrupt, "kind" | "data"> => ({ kind: "approval", data: { ...data } });
    const digest = shownDigest(shown({ title: "Ship?", artifactData: { b: 1, a: 2 }, artifactId: "a", gateId: "g" }));
    expect(shownDigest(shown({ artifactData: { a: 2, b: 1 }, title: "Ship?", previous: {} }))).toBe(digest);
    expect(shownDigest(shown({ title: "Ship!", artifactData: { a: 2, b: 1 } }))).not.toBe(digest);
    expect(shownDigest({ ...shown({ title: "Ship?" }), edited: { data: { a: 2, b: 1 } } })).toBe(digest);
  });

  test("has a digest also where a text holds half a surrogate pair", () => {
    const shown = (text: string) => ({ kind: "approval", data: { title: text } }) as const;
    expect(shownDigest(shown("\ud800"))).toMatch(/^[0-9a-f]{64}$/);
    expect(shownDigest(shown("\ud800"))).not.toBe(shownDigest(shown("\ud801")));
  });

  test("is compared, and told, as it is shown: with secret values masked", () => {
    const { run } = waitingGate({ artifactData: { pin: "8341-4711" } });
    const [interrupt] = Object.values(run.interrupts) as [Interrupt];
    const secrets = ["8341-4711"];
    const masked = shownDigest(interrupt, secrets);
    const refusal = (artifactDigest: string) =>
      refusalOf(() => requireBound(run, interrupt, { given: { artifactDigest }, secrets, isVote: true }));
    expect(refusal(masked)).toBeUndefined();
    const clear = shownDigest(interrupt);
    expect(refusal(clear)).toMatchObject({
      code: "vote_not_bound",
      details: { artifactDigest: masked, changed: [{ name: "artifactDigest", given: clear, current: masked }] },
    });
  });

  test("has a digest that tells nothing of values that are masked", () => {
    const shown = (pin: string) => ({ kind: "approval", data: { title: "Ship?", artifactData: { pin } } }) as const;
    expect(shownDigest(shown("8341-4711"), ["8341-4711"])).toBe(shownDigest(shown("9999-0000"), ["9999-0000"]));
  });
});

describe("an answer to what an agent or a supervisor was not sure of", () => {
  const unsure = { kind: "low-confidence", data: { agentId: "acme.lead", threshold: 0.7, observed: 0.2 } };
  const asks = { contextType: "low-confidence", questions: [{ id: "proceed", question: "Go on?" }] };

  test.each([
    ["an agent's decision", { typeId: "core.interrupt", config: unsure }, { action: "accept" }],
    ["a dispatch's question", { typeId: "core.clarificationGate", config: asks }, { answers: { proceed: "yes" } }],
  ])("says what it is for where the node has asked before: %s", (_, gate, value) => {
    const again = {
      from: "act",
      to: "gate",
      condition: { type: "equals" as const, left: "status", right: "completed" },
    };
    const run = simulate(workflow({ nodes: { gate, act: "core.noop" }, edges: ["gate>act", again] })).go();
    const first = read(run);
    run.resolve("gate", value, ANA);
    run.go();
    for (const bound of [{}, first]) expect(vote(run, bound, ANA, value)).toMatchObject({ code: "vote_not_bound" });
    expect(interruptOf(run).status).toBe("open");
    expect(vote(run, read(run), ANA, value)).toBeUndefined();
  });
});
