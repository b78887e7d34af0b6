import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MASK } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";
import { ADA, begin, engineOn, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { calls, expectSound } from "../../testing/family.ts";
import { BOTH_ON_DISK, type OnDisk } from "../../testing/stored-text.ts";
import { answer, enrol, outcomeOf } from "../../testing/voters.ts";
import { ended } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { debugBundle } from "../runs/debug-bundle.ts";
import { forkRun } from "../runs/fork-run.ts";
import { snapshot } from "../runs/read-run.ts";
import { sendExternalEvent } from "./external-events.ts";
import { readInbox } from "./inbox.ts";
import { resolveByToken, resolveInterrupt } from "./resolve-interrupt.ts";
import { shownInterrupt } from "./shown-gates.ts";

const SECRET = "tulip-field";
const KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";

const says = (expression: string) => ({
  typeId: "core.identity",
  inputs: { text: { type: "expression" as const, expression } },
});

/** A gate, a pause, and a node that repeats what it is given. */
const asking = (id: string, gate: object, expression: string) =>
  workflow({
    id,
    nodes: { gate: gate as never, nap: "core.noop", say: says(expression) },
    edges: ["gate>nap", "nap>say"],
  });

const question = { id: "token", question: "Which token?", schema: { type: "string", pattern: "^tulip" } };
const QUESTIONS = { typeId: "core.clarificationGate", config: { questions: [question] } };
const EDITABLE = {
  typeId: "core.approvalGate",
  config: { title: "Go on?", actions: ["accept", "reject", "edit-accept"], artifactData: { a: 1 } },
};
const CUSTOM = { typeId: "core.interrupt", config: { kind: "custom", data: { customKind: "login" } } };

const record = () => undefined;
const isWaiting = ({ status }: Run) => status.startsWith("waiting-");

describe.each(BOTH_ON_DISK)("a secret in an answer, on %s", (_, open) => {
  let disk: OnDisk;
  let store: Store;
  let host: Host;
  const stops: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    disk = await open();
    [store] = disk.stores;
    host = engineOn(store);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    for (const one of disk.stores) await one.close();
    await disk.drop();
  });

  function work(on: Host = host): void {
    const worker = workerOn(on);
    stops.push(() => worker.stop(1000));
  }

  async function waiting(gate: object, expression: string, request: object = {}): Promise<string> {
    await register(host, asking("asking", gate, expression));
    const runId = await begin(host, { workflowId: "asking", ...request });
    await until(store, runId, isWaiting);
    return runId;
  }

  async function end(runId: string): Promise<Run> {
    const run = await until(store, runId, ended);
    expect([run.status, run.error]).toEqual(["completed", undefined]);
    return run;
  }

  /** All that a reader gets of a run. */
  async function shown(runId: string): Promise<string> {
    await expectSound(store, runId);
    const run = (await store.readRun({ tenant: "t1" }, runId)) as Run;
    const audit = await store.readAudit("t1", 1, 100_000, 100_000);
    const { sensitivity } = await host.plans.byHash(run.workflowHash);
    const interrupts = Object.values(run.interrupts).map((one) => shownInterrupt(run, one, sensitivity));
    const bundle = await debugBundle(host, run, "1");
    return JSON.stringify([await logOf(store, runId), await snapshot(host, run), audit, interrupts, bundle]);
  }

  /** Secrets are in the sealed half of events and in the state that the engine keeps for itself, and in no other table. */
  async function expectHidden(runId: string, secret = SECRET): Promise<void> {
    const text = await shown(runId);
    expect(text).not.toContain(secret);
    expect(text).toContain(MASK);
    const tables = await disk.tablesWith(secret);
    expect(tables.filter((name) => !["run_events", "runs", "interrupts"].includes(name))).toEqual([]);
  }

  test("to a question reaches the next node, is checked as it was given, and no reader", async () => {
    work();
    const runId = await waiting(QUESTIONS, `"it is " + nodes.gate.outputs.answers.token`);
    expect(await outcomeOf(answer(host, ADA, runId, { answers: { token: "other" } }))).toBe("validation_error");
    await answer(host, ADA, runId, { answers: { token: SECRET } });
    expect((await end(runId)).variables).toEqual({ text: `it is ${SECRET}` });
    await expectHidden(runId);
    const log = await logOf(store, runId);
    expect(log.find(({ type }) => type === "clarification.resolved")?.payload).toMatchObject({
      answers: { token: MASK },
    });
    expect(log.find(({ type }) => type === "variable.changed")?.payload).toMatchObject({ next: `it is ${MASK}` });
  });

  test("is there after the process that took it has died before the next node", async () => {
    await register(host, asking("asking", QUESTIONS, `"it is " + nodes.gate.outputs.answers.token`));
    const worker = workerOn(host);
    const runId = await begin(host, { workflowId: "asking" });
    await until(store, runId, isWaiting);
    await worker.stop(1000);
    await resolveInterrupt(engineOn(store), {
      caller: ADA,
      runId,
      of: { nodeId: "gate" },
      value: { answers: { token: SECRET } },
      record,
    });
    const between = (await store.readRun({ tenant: "t1" }, runId)) as Run;
    expect(between.variables).toEqual({});
    await expectHidden(runId);
    work(engineOn(disk.stores.at(-1) as Store));
    expect((await end(runId)).variables).toEqual({ text: `it is ${SECRET}` });
    await expectHidden(runId);
  });

  test("by a token, in any shape, reaches the next node and no reader", async () => {
    work();
    const runId = await waiting(CUSTOM, `nodes.gate.outputs.login.apiKey + " " + nodes.gate.outputs.note`);
    const [interruptId = ""] = Object.keys((await store.readRun({ tenant: "t1" }, runId))?.interrupts ?? {});
    const value = { login: { apiKey: SECRET, list: ["--password", "copperkettle"] }, note: `use ${KEY} here` };
    await resolveByToken(host, { runId, interruptId } as never, { tenant: "t1", value, record });
    expect((await end(runId)).variables).toEqual({ text: `${SECRET} use ${KEY} here` });
    for (const secret of [SECRET, KEY, "copperkettle"]) await expectHidden(runId, secret);
    expect(await shown(runId)).toContain(`${MASK} use ${MASK} here`);
  });

  test("in an edited artifact is masked for the voters that follow and reaches the next node", async () => {
    work();
    const bo = await enrol(store, "bo", { roles: ["owner"] });
    const gate = { ...EDITABLE, config: { ...EDITABLE.config, requiredApprovals: 2 } };
    const runId = await waiting(gate, "nodes.gate.outputs.artifact.password");
    const bound = async () => {
      const run = (await store.readRun({ tenant: "t1" }, runId)) as Run;
      const { sensitivity } = await host.plans.byHash(run.workflowHash);
      const view = shownInterrupt(run, Object.values(run.interrupts)[0] as never, sensitivity);
      const { interruptId, revision, artifactDigest } = view;
      return { view, bound: { interruptId, revision: revision ?? 0, artifactDigest: artifactDigest ?? "" } };
    };
    const of = { nodeId: "gate" };
    const edited = { action: "edit-accept", editedArtifactData: { password: SECRET, a: 2 } };
    await resolveInterrupt(host, { caller: ADA, runId, of, value: edited, bound: (await bound()).bound, record });
    const before = await bound();
    expect(before.view.edited).toEqual({ data: { password: MASK, a: 2 } });
    expect(before.view.hidden).toBe(true);
    const inbox = JSON.stringify(await readInbox(host, bo, {}));
    expect(inbox).toContain(runId);
    expect(inbox).not.toContain(SECRET);
    await expectHidden(runId);
    await resolveInterrupt(host, { caller: bo, runId, of, value: { action: "accept" }, bound: before.bound, record });
    expect((await end(runId)).variables).toEqual({ text: SECRET });
    await expectHidden(runId);
  });

  test("at a governed gate reaches the next node; in words about the decision it reaches no one", async () => {
    work();
    const ana = await enrol(store, "ana");
    const typeId = "core.openwop.governance.approvalGate";
    const config = { requiredRole: "reviewer", resumeSchema: { type: "object", properties: { token: {} } } };
    const runId = await waiting({ typeId, config }, "nodes.gate.outputs.token");
    await answer(host, ana, runId, { decision: "granted", token: SECRET, reason: `${SECRET} and ${KEY}` });
    const run = await end(runId);
    expect(run.variables).toEqual({ text: SECRET });
    expect(JSON.stringify(run.nodes["gate"])).toContain(`${MASK} and ${MASK}`);
    for (const secret of [SECRET, KEY]) await expectHidden(runId, secret);
    expect(await disk.tablesWith(KEY)).toEqual([]);
  });

  test("that is too short to be masked wherever it turns up is masked for the node too", async () => {
    work();
    const runId = await waiting(CUSTOM, `"it is " + nodes.gate.outputs.password + nodes.gate.outputs.pins[0]`);
    await answer(host, ADA, runId, { password: "Q7!", pins: ["--token", "X9!", "plain"] });
    expect((await end(runId)).variables).toEqual({ text: `it is ${MASK}--token` });
    expect(await shown(runId)).not.toMatch(/Q7!|X9!/);
  });

  test("under a name that is one stays hidden, name and value", async () => {
    work();
    const runId = await waiting(CUSTOM, `string(size(nodes.gate.outputs))`);
    await answer(host, ADA, runId, { [KEY]: { password: SECRET } });
    await end(runId);
    for (const secret of [KEY, SECRET]) expect(await disk.tablesWith(secret)).toEqual([]);
  });

  test("is repeated by a replay without a difference, and kept by a branch", async () => {
    work();
    const runId = await waiting(QUESTIONS, `"it is " + nodes.gate.outputs.answers.token`);
    await answer(host, ADA, runId, { answers: { token: SECRET } });
    await end(runId);
    const fork = async (request: object) => {
      const forked = await forkRun(host, { caller: ADA, runId, request: request as never, record });
      expect((await end(forked.runId)).variables).toEqual({ text: `it is ${SECRET}` });
      await expectHidden(forked.runId);
      return logOf(store, forked.runId);
    };
    const replayed = await fork({ mode: "replay" });
    expect(replayed.map(({ type }) => type)).not.toContain("replay.diverged");
    const log = await logOf(store, runId);
    const fromSeq = log.findIndex(({ type, nodeId }) => type === "node.completed" && nodeId === "gate") + 1;
    await fork({ mode: "branch", fromSeq });
  });

  test("at the gate of a child reaches the run above, and no reader of it", async () => {
    work();
    const child = asking("child", QUESTIONS, `"it is " + nodes.gate.outputs.answers.token`);
    await register(host, child);
    const nodes = { call: calls("child", { outputMapping: { word: "text" } }), say: says("variables.word") };
    await register(host, workflow({ id: "parent", nodes, edges: ["call>say"] }));
    const runId = await begin(host, { workflowId: "parent" });
    const [childRunId = ""] = Object.keys((await until(store, runId, isWaiting)).children);
    await answer(host, ADA, childRunId, { answers: { token: SECRET } });
    expect((await end(runId)).variables).toMatchObject({ text: `it is ${SECRET}` });
    for (const one of [runId, childRunId]) await expectHidden(one);
  });

  test("in an event from outside reaches the nodes that wait, at once or held, and no reader", async () => {
    const wait = { typeId: "core.interrupt", config: { kind: "external-event", data: { eventType: "paid" } } };
    const definition = workflow({
      id: "order",
      nodes: {
        wait: { ...wait, inputs: { correlation: { type: "variable", variableName: "correlation" } } },
        say: says("nodes.wait.outputs.receipt.token"),
      },
      edges: ["wait>say"],
      variables: [{ name: "correlation", type: "object" }] as never,
    });
    await register(host, definition);
    const send = (orderToken: string, more: object = {}) =>
      sendExternalEvent(host, {
        caller: ADA,
        request: {
          eventType: "paid",
          eventId: `e-${orderToken.length}`,
          correlation: { orderToken },
          payload: { receipt: { token: SECRET }, orderToken },
          ...more,
        },
        record,
      });
    const inputs = (orderToken: string) => ({ correlation: { orderToken } });
    // Held first: nothing waits for it yet.
    expect((await send("windmill42", { holdSeconds: 600 })).answer.status).toBe(202);
    expect(await disk.tablesWith(SECRET)).toEqual(["external_events"]);
    work();
    const held = await begin(host, { workflowId: "order", inputs: inputs("windmill42") });
    const direct = await begin(host, { workflowId: "order", inputs: inputs("lanternfish") });
    await until(store, direct, isWaiting);
    expect((await send("lanternfish")).answer.status).toBe(200);
    for (const runId of [held, direct]) {
      expect((await end(runId)).variables).toMatchObject({ text: SECRET });
      await expectHidden(runId);
    }
  });
});
