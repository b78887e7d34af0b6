import { beforeEach, describe, expect, test } from "vitest";
import { MASK } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { WorkflowVariable } from "../../protocol/workflows/workflow.ts";
import { begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { calls, expectSound, familyOf } from "../../testing/family.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { type WorkflowSpec, workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { snapshot } from "../runs/read-run.ts";

const bench = workbench();
let host: Host;

beforeEach(() => {
  host = engineOn(bench.store);
});

const define = (id: string, spec: WorkflowSpec) => register(host, workflow({ id, ...spec }));

const secret = (name: string, defaultValue: unknown): WorkflowVariable => ({
  name,
  type: typeof defaultValue as "string",
  sensitive: true,
  defaultValue,
});

/** Says what it is given in a longer text, and keeps it under another name. */
const repeats = (name: string) => ({
  typeId: "core.identity",
  inputs: {
    copy: { type: "variable" as const, variableName: name },
    text: { type: "expression" as const, expression: `"it is " + string(variables.${name})` },
  },
});

/** Everything that anyone may read of the runs of a family. */
async function seen(workflowId: string): Promise<{ run: Run; runs: Run[]; text: string }> {
  bench.work(host);
  const runId = await begin(host, { workflowId });
  const run = await until(bench.store, runId, ended);
  await expectSound(bench.store, runId);
  const runs = await familyOf(bench.store, runId);
  const parts = runs.map(async (one) => [await logOf(bench.store, one.runId), await snapshot(host, one)]);
  return { run, runs, text: JSON.stringify(await Promise.all(parts)) };
}

describe("a sensitive variable of the parent", () => {
  test("is masked in its child, by whatever name and in whatever text, and the child can use it", async () => {
    await define("child", { nodes: { say: repeats("word") } });
    await define("parent", {
      nodes: { call: calls("child", { inputMapping: { word: "password" } }) },
      variables: [secret("password", "hunter-two")],
    });
    const { runs, text } = await seen("parent");
    expect(runs[1]?.variables).toMatchObject({ word: "hunter-two", text: "it is hunter-two" });
    expect(text).not.toContain("hunter-two");
  });

  test.each([["4711"], ["pin"], [true], [7]])(
    "is masked by its new name where its value is too short to look for (%j)",
    async (value) => {
      await define("child", { nodes: { only: "core.noop" } });
      await define("middle", { nodes: { call: calls("child", { inputMapping: { deepest: "inner" } }) } });
      await define("parent", {
        nodes: { call: calls("middle", { inputMapping: { inner: "outer" } }) },
        variables: [secret("outer", value)],
      });
      const { runs } = await seen("parent");
      expect(runs.map(({ variables }) => Object.values(variables))).toEqual([[value], [value], [value]]);
      for (const run of runs) {
        const shown = await snapshot(host, run);
        expect(Object.values(shown.variables ?? {})).toEqual([MASK]);
        const [started] = await logOf(bench.store, run.runId);
        const { inputs, defaults } = (started?.payload ?? {}) as { inputs?: object; defaults?: object };
        expect(Object.values({ ...inputs, ...defaults })).toEqual([MASK]);
      }
    },
  );

  test("is masked by name too where a port of the node passes it on, and so is a sensitive output", async () => {
    await define("child", { nodes: { only: "core.noop" } });
    await define("parent", {
      nodes: {
        make: {
          typeId: "core.identity",
          inputs: { code: { type: "static", value: "pin" } },
          outputSensitivity: { code: true },
        },
        call: {
          ...calls("child"),
          inputs: {
            flag: { type: "variable", variableName: "flag" },
            code: { type: "connection", nodeId: "make", outputKey: "code" },
            open: { type: "static", value: "yes" },
          },
        },
      },
      edges: ["make>call"],
      variables: [secret("flag", true)],
    });
    const { runs } = await seen("parent");
    expect(runs[1]?.variables).toEqual({ flag: true, code: "pin", open: "yes" });
    expect((await snapshot(host, runs[1] as Run)).variables).toEqual({ flag: MASK, code: MASK, open: "yes" });
  });

  test("that was given in part of a text is masked there, and wherever the child repeats it", async () => {
    await define("child", { nodes: { say: repeats("letter") } });
    await define("parent", {
      nodes: {
        write: {
          typeId: "core.identity",
          inputs: { letter: { type: "expression", expression: '"dear " + variables.password' } },
        },
        call: calls("child", { inputMapping: { letter: "letter" } }),
      },
      edges: ["write>call"],
      variables: [secret("password", "hunter-two")],
    });
    const { runs, text } = await seen("parent");
    expect(runs[1]?.variables).toMatchObject({ text: "it is dear hunter-two" });
    expect(text).not.toContain("hunter-two");
  });
});

describe("a sensitive variable of the child", () => {
  test("is masked in the parent it is mapped to, and in whatever is made of it there", async () => {
    await define("child", { nodes: { only: "core.noop" }, variables: [secret("password", "hunter-two")] });
    await define("parent", {
      nodes: { call: calls("child", { outputMapping: { word: "password" } }), say: repeats("word") },
      edges: ["call>say"],
    });
    const { run, text } = await seen("parent");
    expect(run.variables).toMatchObject({ word: "hunter-two", text: "it is hunter-two" });
    expect(text).not.toContain("hunter-two");
  });

  test.each([["pin"], [false]])("stays masked by name where its value is too short to look for (%j)", async (value) => {
    await define("child", { nodes: { only: "core.noop" }, variables: [secret("inner", value)] });
    await define("middle", { nodes: { call: calls("child", { outputMapping: { middle: "inner" } }) } });
    await define("parent", { nodes: { call: calls("middle", { outputMapping: { outer: "middle" } }) } });
    const { run, runs } = await seen("parent");
    expect(run.variables).toEqual({ outer: value });
    for (const one of runs) expect(Object.values((await snapshot(host, one)).variables ?? {})).toEqual([MASK]);
    const log = await logOf(bench.store, run.runId);
    const changed = log.find(({ type }) => type === "variable.changed");
    expect(changed?.payload).toEqual({ name: "outer", next: MASK, nodeId: "call", sensitive: true });
  });

  test("masks what the parent's variable is set to afterwards, and not what it was before", async () => {
    await define("child", { nodes: { only: "core.noop" }, variables: [secret("inner", "hunter-two")] });
    await define("parent", {
      nodes: {
        call: calls("child", { outputMapping: { word: "inner" } }),
        set: { typeId: "core.identity", inputs: { word: { type: "static", value: "another one" } } },
      },
      edges: ["call>set"],
      variables: [{ name: "word", type: "string", defaultValue: "an open one" }],
    });
    const { run, text } = await seen("parent");
    expect(run.variables).toEqual({ word: "another one" });
    expect(text).not.toContain("another one");
    expect(text).toContain("an open one");
  });

  test("is masked in the error of a child that failed by it, on every level", async () => {
    await define("child", {
      nodes: { no: { typeId: "core.fail", config: { message: "hunter-two was refused" } } },
      variables: [secret("password", "hunter-two")],
    });
    await define("middle", { nodes: { call: calls("child", { onChildFailure: "fail-parent" }) } });
    await define("parent", { nodes: { call: calls("middle", { onChildFailure: "absorb" }) } });
    const { run, text } = await seen("parent");
    expect(run.status).toBe("completed");
    expect(text).toContain(`${MASK} was refused`);
    expect(text).not.toContain("hunter-two");
  });

  test("is masked in outputs that repeat it", async () => {
    await define("child", { nodes: { say: repeats("password") }, variables: [secret("password", "hunter-two")] });
    await define("parent", {
      nodes: {
        call: calls("child"),
        say: {
          typeId: "core.identity",
          inputs: { got: { type: "connection", nodeId: "call", outputKey: "outputs" } },
        },
      },
      edges: ["call>say"],
    });
    const { run, text } = await seen("parent");
    expect(run.nodes["say"]?.outputs).toMatchObject({ got: { text: "it is hunter-two" } });
    expect(text).not.toContain("hunter-two");
  });

  test("does not leave the child through an output port that is sensitive", async () => {
    await define("child", {
      nodes: {
        say: {
          typeId: "core.identity",
          inputs: { code: { type: "static", value: "pin" } },
          outputSensitivity: { code: true },
        },
      },
    });
    await define("parent", { nodes: { call: calls("child") } });
    const { run } = await seen("parent");
    expect(run.nodes["call"]?.outputs).toMatchObject({ outputs: { code: MASK } });
  });
});
