import { describe, expect, test } from "vitest";
import { simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";

const story = (run: { story: readonly string[] }, prefix: string) =>
  run.story.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length + 1));

describe("a workflow with one node", () => {
  const run = simulate(workflow({ nodes: { only: "core.noop" } })).go();

  test("starts, executes the node and completes, in this order", () => {
    expect(run.story).toEqual(["run.started", "node.started:only", "node.completed:only", "run.completed"]);
    expect(run.run.status).toBe("completed");
  });

  test("numbers its events from 0 without a gap", () => {
    expect(run.events.map((event) => event.sequence)).toEqual([0, 1, 2, 3]);
  });
});

describe("a chain of nodes", () => {
  test("completes them in the order of the edges, not of the list", () => {
    const run = simulate(
      workflow({ nodes: { c: "core.noop", b: "core.noop", a: "core.noop" }, edges: ["a>b", "b>c"] }),
    ).go();
    expect(story(run, "node.completed")).toEqual(["a", "b", "c"]);
  });
});

describe("a branch", () => {
  const branching = (condition: object) =>
    simulate(
      workflow({
        nodes: {
          ask: { typeId: "core.identity", inputs: { score: { type: "variable", variableName: "score" } } },
          high: "core.noop",
          low: "core.noop",
        },
        edges: [
          { from: "ask", to: "high", condition: { type: "expression", expression: "output.score >= 4" } },
          { from: "ask", to: "low", condition },
        ],
        variables: [{ name: "score", type: "number" }],
      }),
      { inputs: { score: 5 } },
    ).go();

  test("takes the edges whose condition holds and skips the others' targets", () => {
    const run = branching({ type: "expression", expression: "output.score < 4" });
    expect(story(run, "node.completed")).toEqual(["ask", "high"]);
    expect(story(run, "node.skipped")).toEqual(["low"]);
    expect(run.run.status).toBe("completed");
  });

  test.each([
    [{ type: "equals", left: "output.score", right: 5 }, true],
    [{ type: "equals", left: "score", right: 5 }, true],
    [{ type: "equals", left: "variables.score", right: 4 }, false],
    [{ type: "notEquals", left: "output.score", right: 5 }, false],
    [{ type: "regex", left: "status", right: "^comp" }, true],
    [{ type: "regex", left: "status", right: "^failed$" }, false],
    [{ type: "contains", left: "status", right: "plet" }, true],
    [{ type: "contains", left: "outputs", right: "score" }, true],
    [{ type: "truthy", left: "output.score" }, true],
    [{ type: "falsy", left: "output.nothing" }, true],
    [{ type: "expression", expression: "no.such.thing > 1" }, false],
  ])("evaluates %j to %s", (condition, fires) => {
    expect(story(branching(condition), "node.completed").includes("low")).toBe(fires);
  });
});

describe("a node behind two others, one of which is skipped", () => {
  const joined = (triggerRule: string) => {
    const run = simulate(
      workflow({
        nodes: { a: "core.noop", off: { typeId: "core.noop", disabled: true }, join: "core.noop" },
        edges: [
          { from: "a", to: "join", triggerRule: triggerRule as "all_success" },
          { from: "off", to: "join", triggerRule: triggerRule as "all_success" },
        ],
      }),
    ).go();
    return run.run.nodes["join"]?.status;
  };

  test.each([
    ["all_success", "skipped"],
    ["none_failed", "completed"],
    ["any_success", "completed"],
    ["all_complete", "completed"],
    ["any_failed", "skipped"],
  ])("with %s is %s", (rule, status) => {
    expect(joined(rule)).toBe(status);
  });
});

describe("a node that fails", () => {
  test("ends the run, and the run's failure is the last event", () => {
    const run = simulate(workflow({ nodes: { bad: "core.fail", next: "core.noop" }, edges: ["bad>next"] })).go();
    expect(run.story.slice(-2)).toEqual(["node.failed:bad", "run.failed"]);
    expect(run.run.error?.code).toBe("node_failed");
    expect(run.run.nodes["next"]).toBeUndefined();
  });

  test.each(["any_failed", "all_complete"] as const)(
    "does not end the run when an edge with %s handles it",
    (triggerRule) => {
      const run = simulate(
        workflow({
          nodes: { bad: "core.fail", rescue: "core.noop" },
          edges: [{ from: "bad", to: "rescue", triggerRule }],
        }),
      ).go();
      expect(story(run, "node.completed")).toEqual(["rescue"]);
      expect(run.run.status).toBe("completed");
    },
  );

  test("is tried again as often as the settings allow when its error may pass", () => {
    const run = simulate(
      workflow({ nodes: { bad: { typeId: "core.fail", config: { retryable: true } } }, settings: { maxRetries: 2 } }),
    ).go();
    expect(story(run, "node.started")).toHaveLength(3);
    expect(story(run, "node.retried")).toHaveLength(2);
    expect(run.events.at(-2)).toMatchObject({ type: "node.failed", payload: { attempts: 3 } });
  });
});

describe("an edge that leads back", () => {
  const looping = (settings: object, expression: string) =>
    simulate(
      workflow({
        nodes: {
          count: { typeId: "core.channelWrite", config: { channelName: "rounds", reducer: "counter", value: 1 } },
          check: {
            typeId: "core.identity",
            inputs: { last: { type: "expression", expression: "nodes.count.outputs.value" } },
          },
          end: "core.noop",
        },
        edges: [
          "count>check",
          { from: "check", to: "count", id: "again", condition: { type: "expression", expression } },
          { from: "check", to: "end" },
        ],
        settings,
      }),
    ).go();

  test("starts its loop over until the limit, then the run fails", () => {
    const run = looping({ maxLoopbackIterations: 3 }, "true");
    expect(run.run.channels["rounds"]?.value).toBe(4);
    expect(run.events.some((event) => event.type === "workflow.loopback-limit")).toBe(true);
    expect(run.run.error?.code).toBe("loop_limit_exceeded");
  });

  test("is passed by when its condition does not hold", () => {
    const run = looping({}, "false");
    expect(run.run.channels["rounds"]?.value).toBe(1);
    expect(run.run.status).toBe("completed");
    expect(run.run.nodes["end"]?.status).toBe("completed");
  });
});

describe("names that every object has", () => {
  const ids = ["constructor", "toString", "hasOwnProperty", "__proto__"];

  test("are names of nodes like any other", () => {
    const nodes = Object.fromEntries(ids.map((id) => [id, "core.noop"]));
    const run = simulate(workflow({ nodes, edges: ["constructor>toString", "toString>hasOwnProperty"] })).go();
    expect(run.run.status).toBe("completed");
    expect(story(run, "node.completed").sort()).toEqual([...ids].sort());
  });

  test("are names of edges, ports and channels like any other", () => {
    const run = simulate(
      workflow({
        nodes: {
          make: {
            typeId: "core.identity",
            inputs: { gone: { type: "connection", nodeId: "make", outputKey: "valueOf", optional: true } },
          },
          add: { typeId: "core.channelWrite", config: { channelName: "constructor", reducer: "counter", value: 1 } },
        },
        edges: ["make>add", { id: "constructor", from: "add", to: "make" }],
        settings: { maxLoopbackIterations: 2 },
      }),
    ).go();
    expect(run.run.channels["constructor"]).toMatchObject({ reducer: "counter", value: 3 });
    expect(run.run.error?.code).toBe("loop_limit_exceeded");
    expect(run.run.nodes["make"]?.outputs).toEqual({});
  });
});

describe("a loop with a branch that is still at work", () => {
  test("holds back what it will reset, and goes round when the branch has ended", () => {
    const run = simulate(
      workflow({
        nodes: {
          plan: "core.noop",
          slow: { typeId: "core.delay", config: { ms: 1000 } },
          check: { typeId: "core.identity", inputs: { n: { type: "expression", expression: "variables.n + 1.0" } } },
          publish: "core.noop",
        },
        edges: [
          "plan>slow",
          "plan>check",
          "check>publish",
          { from: "check", to: "plan", condition: { type: "expression", expression: "output.n < 3" } },
        ],
        variables: [{ name: "n", type: "number", defaultValue: 0 }],
      }),
    ).go();
    expect(run.run.status).toBe("completed");
    expect(story(run, "node.completed").filter((id) => id === "check")).toHaveLength(3);
    expect(story(run, "node.started").filter((id) => id === "publish")).toHaveLength(1);
  });
});

describe("a failure whose handler does not run", () => {
  test.each([
    ["is disabled", { mend: { typeId: "core.noop", disabled: true } }, []],
    ["also waits for a success that does not come", { mend: "core.noop" }, [{ from: "bad", to: "mend" }]],
  ])("because it %s fails the run", (_, mend, more) => {
    const run = simulate(
      workflow({
        nodes: { bad: "core.fail", ...mend },
        edges: [{ from: "bad", to: "mend", triggerRule: "any_failed" }, ...more],
      }),
    ).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "node_failed" } });
    expect(run.events.at(-1)).toMatchObject({ type: "run.failed", payload: { failedNodeId: "bad" } });
  });
});

describe("a workflow of thousands of nodes", () => {
  const ids = Array.from({ length: 4000 }, (_, i) => `n${i}`);
  const nodes = Object.fromEntries(ids.map((id) => [id, "core.noop"]));
  const chain = ids.slice(1).map((id, i) => `${ids[i]}>${id}`);
  const options = { maxNodeExecutions: 10_000 };

  // Each of these blocked the process for ten seconds and more when a step cost as much as there are nodes.
  test.each([
    ["side by side", nodes, [], "completed"],
    ["in a chain", nodes, chain, "completed"],
    ["in a chain that is skipped", { ...nodes, n0: { typeId: "core.noop", disabled: true } }, chain, "completed"],
  ])("%s ends in one turn", (_, all, edges, status) => {
    const run = simulate(workflow({ nodes: all, edges }), {}, options).turn();
    expect(run.run.status).toBe(status);
  });
});
