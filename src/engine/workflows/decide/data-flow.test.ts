import { describe, expect, test } from "vitest";
import { AppError } from "../../../protocol/errors.ts";
import { MASK } from "../../../protocol/events.ts";
import { channelValue } from "../../../protocol/runs/channel.ts";
import { snapshotOf } from "../../../protocol/runs/snapshot.ts";
import { simulate } from "../../../testing/simulate.ts";
import { type WorkflowSpec, workflow } from "../../../testing/workflow.ts";

const echo = workflow({
  nodes: { echo: { typeId: "core.identity", inputs: { payload: { type: "variable", variableName: "payload" } } } },
  variables: [
    { name: "payload", type: "object", required: true },
    { name: "greeting", type: "string", defaultValue: "hello" },
  ],
});

describe("inputs", () => {
  test("become variables over the defaults, and come back unchanged", () => {
    const payload = { a: [1, { b: null }], é: "ü" };
    const run = simulate(echo, { inputs: { payload } }).go();
    expect(run.run.variables).toEqual({ payload, greeting: "hello" });
    expect(run.run.outputs).toEqual({ payload });
  });

  test.each([
    [{}, "inputs.payload is required"],
    [{ payload: "text" }, "inputs.payload must be of type object"],
    [{ payload: [] }, "inputs.payload must be of type object"],
    [{ payload: null }, "inputs.payload must be of type object"],
    [{ payload: {}, greeting: 3 }, "inputs.greeting must be of type string"],
  ])("%j are refused before a run exists: %s", (inputs, problem) => {
    expect(() => simulate(echo, { inputs })).toThrow(problem);
  });
});

describe("a workflow with a configurableSchema", () => {
  const strict = workflow({
    nodes: { n: "core.noop" },
    configurableSchema: {
      type: "object",
      additionalProperties: false,
      properties: { recursionLimit: { type: "integer", minimum: 1 } },
    },
  });

  test("starts with a configurable that matches", () => {
    expect(simulate(strict, { configurable: { recursionLimit: 2 } }).run.status).toBe("pending");
  });

  test("refuses one that does not, naming the key", () => {
    const configurable: object = { colour: "red" };
    expect(() => simulate(strict, { configurable })).toThrow(/colour/);
    expect(() => simulate(strict, { configurable })).toThrow(AppError);
  });
});

describe("a node's ports", () => {
  test("take static values, variables, outputs of other nodes and expressions", () => {
    const run = simulate(
      workflow({
        nodes: {
          first: { typeId: "core.identity", inputs: { n: { type: "static", value: 20 } } },
          second: {
            typeId: "core.identity",
            inputs: {
              fromNode: { type: "connection", nodeId: "first", outputKey: "n" },
              doubled: { type: "expression", expression: "nodes.first.outputs.n * 2.0 + variables.add" },
              absent: { type: "variable", variableName: "nothing", optional: true },
            },
          },
        },
        edges: ["first>second"],
        variables: [{ name: "add", type: "number", defaultValue: 2 }],
      }),
    ).go();
    expect(run.run.nodes["second"]?.outputs).toEqual({ fromNode: 20, doubled: 42 });
  });

  test("fail the node when a value is missing and not optional", () => {
    const run = simulate(
      workflow({
        nodes: { n: { typeId: "core.identity", inputs: { x: { type: "variable", variableName: "nothing" } } } },
      }),
    ).go();
    expect(run.run.error).toMatchObject({ code: "node_input_invalid" });
    expect(run.run.error?.message).toContain("variable nothing has no value");
  });
});

describe("sensitive variables", () => {
  const secret = "correct-horse-battery";
  const run = simulate(
    workflow({
      nodes: {
        echo: { typeId: "core.identity", inputs: { password: { type: "variable", variableName: "password" } } },
        copy: {
          typeId: "core.identity",
          inputs: { note: { type: "expression", expression: '"password is " + variables.password' } },
        },
        write: {
          typeId: "core.channelWrite",
          config: { channelName: "log", reducer: "append" },
          inputs: { value: { type: "variable", variableName: "password" } },
        },
      },
      edges: ["echo>copy", "copy>write"],
      variables: [{ name: "password", type: "string", sensitive: true, defaultValue: "swordfish" }],
    }),
    { inputs: { password: secret } },
  ).go();

  test("reach the nodes as they are", () => {
    expect(run.run.status).toBe("completed");
    expect(run.run.variables["password"]).toBe(secret);
    expect(run.run.nodes["copy"]?.outputs).toEqual({ note: `password is ${secret}` });
  });

  test("appear in no served event, wherever they were copied to", () => {
    const served = JSON.stringify(run.events.map(({ sealed: _, ...event }) => event));
    expect(served).not.toContain(secret);
    expect(served).toContain(MASK);
  });

  test("appear nowhere in the snapshot", () => {
    expect(JSON.stringify(snapshotOf(run.run, run.plan.sensitivity))).not.toContain(secret);
  });
});

describe("sensitive outputs", () => {
  test("are masked in node.completed and in the snapshot, and kept for the nodes after", () => {
    const run = simulate(
      workflow({
        nodes: {
          make: {
            typeId: "core.identity",
            inputs: { token: { type: "static", value: 12345 } },
            outputSensitivity: { token: true },
          },
        },
      }),
    ).go();
    const completed = run.events.find((event) => event.type === "node.completed");
    expect(completed?.payload).toEqual({ nodeId: "make", outputs: { token: MASK } });
    expect(run.run.nodes["make"]?.outputs).toEqual({ token: 12345 });
    expect(snapshotOf(run.run, run.plan.sensitivity).nodeStates).toMatchObject({ make: { outputs: { token: MASK } } });
  });
});

describe("channels", () => {
  const written = (channel: object, ...values: unknown[]) => {
    const nodes = Object.fromEntries(
      values.map((value, i) => [`w${i}`, { typeId: "core.channelWrite", config: { channelName: "c", value } }]),
    );
    const edges = values.slice(1).map((_, i) => `w${i}>w${i + 1}`);
    return simulate(workflow({ nodes, edges, channels: { c: channel as { reducer: string } } })).go();
  };
  const channelOf = (run: ReturnType<typeof written>) => {
    const channel = run.run.channels["c"];
    return channel && channelValue(channel);
  };

  test.each([
    ["replace", [1, 2], 2],
    ["append", [1, 2], [1, 2]],
    ["merge", [{ a: 1, b: 1 }, { b: 2 }], { a: 1, b: 2 }],
    ["counter", [5, -2], 3],
    [
      "votes",
      [
        { voter: "x", v: 1 },
        { voter: "y", v: 1 },
        { voter: "x", v: 2 },
      ],
      [
        { voter: "y", v: 1 },
        { voter: "x", v: 2 },
      ],
    ],
    ["feedback", [{ author: "x", text: "t" }], [{ author: "x", text: "t" }]],
    [
      "message",
      [
        { messageId: "m", n: 1 },
        { messageId: "m", n: 2 },
      ],
      [{ messageId: "m", n: 1 }],
    ],
  ])("fold with %s", (reducer, values, folded) => {
    expect(channelOf(written({ reducer }, ...values))).toEqual(folded);
  });

  test("record the input of the reducer, never the folded state", () => {
    const run = written({ reducer: "counter" }, 5, -2);
    const inputs = run.events.flatMap((event) => (event.type === "channel.written" ? [event.payload.value] : []));
    expect(inputs).toEqual([5, -2]);
  });

  test("drop the oldest entries above maxSize", () => {
    expect(channelOf(written({ reducer: "append", maxSize: 2 }, 1, 2, 3))).toEqual([2, 3]);
  });

  test("drop entries older than ttlMs by the time of their events", () => {
    const run = simulate(
      workflow({
        nodes: {
          a: { typeId: "core.channelWrite", config: { channelName: "c", reducer: "append", ttlMs: 200, value: "a" } },
          wait: { typeId: "core.delay", config: { ms: 300 } },
          b: { typeId: "core.channelWrite", config: { channelName: "c", reducer: "append", ttlMs: 200, value: "b" } },
        },
        edges: ["a>wait", "wait>b"],
      }),
    ).go();
    expect(run.run.channels["c"]?.entries?.map((entry) => entry.value)).toEqual(["b"]);
  });

  describe("with a time to live", () => {
    const shown = (channel: object, variables: WorkflowSpec["variables"] = []) => {
      const nodes = { w: { typeId: "core.channelWrite", config: { channelName: "c", value: "a" } } };
      const channels = { c: channel as { reducer: string } };
      const { run, plan } = simulate(workflow({ nodes, channels, variables })).go();
      return { run, variables: snapshotOf(run, plan.sensitivity).variables };
    };

    test("are shown among the variables, each entry with the time of its write", () => {
      const { run, variables } = shown({ reducer: "append", ttlMs: 200 });
      expect(variables).toEqual({ c: [{ value: "a", _ts: run.channels["c"]?.entries?.[0]?.atMs }] });
      expect(run.variables).toEqual({});
    });

    test("are masked there when they are sensitive, and hidden by a variable of the same name", () => {
      expect(shown({ reducer: "append", ttlMs: 200, sensitive: true }).variables).toEqual({ c: MASK });
      const own = [{ name: "c", type: "string" as const, defaultValue: "mine" }];
      expect(shown({ reducer: "append", ttlMs: 200 }, own).variables).toEqual({ c: "mine" });
    });

    test.each([{ reducer: "append" }, { reducer: "replace", ttlMs: 200 }])("only as lists: not %o", (channel) => {
      expect(shown(channel).variables).toEqual({});
    });
  });

  test.each([
    ["a reducer that cannot fold the value", { reducer: "counter" }, "x", "channel_schema_violation"],
    [
      "a schema the value does not match",
      { reducer: "replace", schema: { type: "string" } },
      3,
      "channel_schema_violation",
    ],
    [
      "a list of writers without the node",
      { reducer: "replace", access: { writers: ["core.ai.*"] } },
      3,
      "channel_access_denied",
    ],
  ])("refuse a write because of %s", (_, channel, value, code) => {
    const run = written(channel, value);
    expect(run.run.error?.code).toBe(code);
    expect(run.events.some((event) => event.type === "channel.written")).toBe(false);
  });

  test("accept an old schema version only when it is listed as compatible", () => {
    const write = (compatibleWith: number[]) =>
      simulate(
        workflow({
          nodes: { w: { typeId: "core.channelWrite", config: { channelName: "c", value: 1, schemaVersion: 1 } } },
          channels: { c: { reducer: "replace", schemaVersion: 2, compatibleWith } },
        }),
      ).go();
    expect(write([1]).run.status).toBe("completed");
    expect(write([]).run.error?.code).toBe("channel_schema_breaking_change");
  });

  test("take a message with one id once, though a node emits it twice", () => {
    const run = simulate(
      workflow({
        nodes: { n: { typeId: "core.identity", config: { emitDuplicateMessageId: true } } },
        channels: { messages: { reducer: "message", schema: { type: "array" } } },
      }),
    ).go();
    expect(run.events.filter((event) => event.type === "channel.written")).toHaveLength(2);
    expect(run.run.channels["messages"]?.entries).toHaveLength(1);
  });
});

describe("cost attributes", () => {
  test("keep to the allow-list and add up in the snapshot", () => {
    const attrs = {
      "openwop.cost.tokens.input": 100,
      "openwop.cost.usd": 0.5,
      "openwop.cost.provider": "acme",
      "openwop.cost.evil": "dropped",
      "openwop.cost.model": "sk-ant-a-secret-in-a-known-name-that-is-far-too-long-to-be-the-name-of-a-model-anywhere",
    };
    const emit = { typeId: "conformance.cost.emit", config: { attrs } };
    const run = simulate(workflow({ nodes: { a: emit, b: emit }, edges: ["a>b"] })).go();
    expect(JSON.stringify(run.events)).not.toContain("evil");
    expect(JSON.stringify(run.events)).not.toContain("sk-ant");
    expect(snapshotOf(run.run, run.plan.sensitivity).metrics).toEqual({
      openwopCost: { usd: 1, provider: "acme", tokens: { input: 200 } },
    });
  });
});
