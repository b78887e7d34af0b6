import { describe, expect, test } from "vitest";
import { MASK } from "../../../protocol/events.ts";
import { snapshotOf } from "../../../protocol/runs/snapshot.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";

const served = ({ events, run, plan }: Simulation): string =>
  JSON.stringify([events.map(({ sealed: _, ...event }) => event), snapshotOf(run, plan.sensitivity)]);

const variable = (name: string) => ({ type: "variable" as const, variableName: name });
const password = { name: "password", type: "string" as const, sensitive: true };

describe("a sensitive value that reads like a name of the workflow", () => {
  test.each([
    ["a node that runs", { "fetch-data": "core.noop", next: "core.noop" }],
    ["a node that is skipped", { first: "core.noop", "fetch-data": { typeId: "core.noop", disabled: true } }],
  ])("does not change what becomes of %s", (_, nodes) => {
    const run = simulate(workflow({ nodes, variables: [password] }), { inputs: { password: "fetch" } }).go();
    expect(run.run.status).toBe("completed");
    expect(Object.keys(run.run.nodes).sort()).toEqual(Object.keys(nodes).sort());
    expect(run.events.map(({ nodeId }) => nodeId)).toContain("fetch-data");
  });

  test("leaves the ids, times, states and codes of what is served alone", () => {
    const secrets = ["completed", "2026", "test-workflow", "node_failed"].map((defaultValue, i) => {
      return { name: `s${i}`, type: "string" as const, sensitive: true, defaultValue };
    });
    const run = simulate(
      workflow({
        nodes: { bad: "core.fail", mend: "core.noop" },
        edges: [{ from: "bad", to: "mend", triggerRule: "any_failed" }],
        variables: secrets,
      }),
    ).go();
    expect(snapshotOf(run.run, run.plan.sensitivity)).toMatchObject({
      status: "completed",
      workflowId: "test-workflow",
      startedAt: "2026-01-01T00:00:00.000Z",
      nodeStates: { bad: { status: "failed", error: { code: "node_failed" } } },
    });
  });
});

describe("a sensitive variable", () => {
  test("that gets a new value leaves no copy of the old one to be seen", () => {
    const run = simulate(
      workflow({
        nodes: {
          copy: { typeId: "core.identity", inputs: { copy: variable("password") } },
          rotate: { typeId: "core.identity", inputs: { password: { type: "static", value: "second-secret" } } },
          end: "core.noop",
        },
        edges: ["copy>rotate", "rotate>end"],
        variables: [password],
      }),
      { inputs: { password: "first-secret" } },
    ).go();
    expect(run.run.nodes["copy"]?.outputs).toEqual({ copy: "first-secret" });
    expect(served(run)).not.toMatch(/first-secret|second-secret/);
  });

  test("is masked in what its run was started with, also as the name of a field", () => {
    const metadata = { note: "use tulip-42", "tulip-42": true };
    const request = { inputs: { password: "tulip-42" }, metadata, tags: ["tulip-42"] };
    const run = simulate(workflow({ nodes: { only: "core.noop" }, variables: [password] }), request).go();
    expect(served(run)).not.toContain("tulip-42");
    expect(run.run.metadata).toEqual(metadata);
  });

  test("that begins with another one leaves no tail", () => {
    const run = simulate(
      workflow({
        nodes: { copy: { typeId: "core.identity", inputs: { copy: variable("long") } } },
        variables: [password, { ...password, name: "long" }],
      }),
      { inputs: { password: "tulip", long: "tulip-and-rose" } },
    ).go();
    expect(served(run)).not.toContain("rose");
  });

  test("is masked where it is a number, and where a text quotes it", () => {
    const run = simulate(
      workflow({
        nodes: {
          copy: { typeId: "core.identity", inputs: { copy: variable("pin") } },
          quote: {
            typeId: "core.fail",
            config: { message: 'got {"password":"with \\"quotes\\""}' },
          },
        },
        variables: [password, { name: "pin", type: "number", sensitive: true }],
      }),
      { inputs: { pin: 271828, password: 'with "quotes"' } },
    ).go();
    expect(served(run)).not.toMatch(/271828|with/);
  });

  test("of many texts costs no more than reading the payload once for all of them", () => {
    const list = Array.from({ length: 3000 }, (_, i) => `secret number ${i}`);
    const text = list.join(" and ");
    const run = simulate(
      workflow({
        nodes: { copy: { typeId: "core.identity", inputs: { copy: variable("text") } } },
        variables: [
          { name: "list", type: "array", sensitive: true },
          { name: "text", type: "string" },
        ],
      }),
      { inputs: { list, text } },
    ).go();
    expect(served(run)).not.toContain("number 7");
  });
});

describe("a sensitive output", () => {
  const token = { typeId: "core.identity", outputSensitivity: { token: true } };

  test("is masked in the outputs of the run too", () => {
    const run = simulate(
      workflow({ nodes: { make: { ...token, inputs: { token: { type: "static", value: true } } } } }),
    ).go();
    expect(run.events.at(-1)).toMatchObject({ type: "run.completed", payload: { outputs: { token: MASK } } });
    expect(run.run.outputs).toEqual({ token: true });
  });

  test("is masked in the variable it becomes and in what later nodes make of it", () => {
    const run = simulate(
      workflow({
        nodes: {
          make: { ...token, inputs: { token: { type: "static", value: "abc-def-ghi" } } },
          use: { typeId: "core.identity", inputs: { used: variable("token") } },
        },
        edges: ["make>use"],
      }),
    ).go();
    expect(run.run.nodes["use"]?.outputs).toEqual({ used: "abc-def-ghi" });
    expect(served(run)).not.toContain("abc-def-ghi");
  });
});

describe("a sensitive channel", () => {
  test("hides its values in the outputs of the node that writes it too", () => {
    const run = simulate(
      workflow({
        nodes: { write: { typeId: "core.channelWrite", config: { channelName: "notes", value: "between us" } } },
        channels: { notes: { reducer: "append", sensitive: true } },
      }),
    ).go();
    expect(served(run)).not.toContain("between us");
  });
});
