import { workflow } from "../../src/testing/workflow.ts";

const number = (name: string, defaultValue: number) => ({ name, type: "number" as const, defaultValue });
const wait = { typeId: "core.delay", inputs: { delayMs: { type: "variable" as const, variableName: "delayMs" } } };

const write = (value: string) => ({
  typeId: "core.channelWrite",
  config: { channelName: "events", reducer: "append", ttlMs: 200, value },
});

/** What an outside suite would seed, in our own words: runs that nobody has to answer. */
export const RUN_FIXTURES = [
  workflow({ id: "noop", nodes: { noop: "core.noop" } }),
  workflow({
    id: "echo",
    nodes: { echo: { typeId: "core.identity", inputs: { payload: { type: "variable", variableName: "payload" } } } },
    variables: [{ name: "payload", type: "object", required: true }],
  }),
  workflow({
    id: "echo-declared",
    nodes: { echo: { typeId: "core.identity", inputs: { payload: { type: "variable", variableName: "payload" } } } },
    variables: [
      { name: "payload", type: "object", required: true },
      { name: "pin", type: "string", sensitive: true },
    ],
  }),
  workflow({
    id: "echo-options",
    nodes: { echo: { typeId: "core.identity", inputs: { payload: { type: "variable", variableName: "payload" } } } },
    variables: [{ name: "payload", type: "object", required: true }],
    configurableSchema: {
      type: "object",
      properties: {
        door: { type: "string", format: "password" },
        mail: { type: "object", properties: { code: { $ref: "#/$defs/code" }, from: { type: "string" } } },
      },
      $defs: { code: { type: "integer", writeOnly: true } },
    },
  }),
  workflow({ id: "sleep", nodes: { wait }, variables: [number("delayMs", 300)] }),
  workflow({
    id: "sleep-then-go",
    nodes: { wait, after: "core.noop" },
    edges: ["wait>after"],
    variables: [number("delayMs", 300)],
  }),
  workflow({
    id: "sleep-then-effect",
    nodes: { wait, act: "core.conformance.side-effect" },
    edges: ["wait>act"],
    variables: [number("delayMs", 300)],
  }),
  workflow({ id: "failing", nodes: { fail: "core.fail" } }),
  workflow({ id: "chain", nodes: { a: "core.noop", b: "core.noop", c: "core.noop" }, edges: ["a>b", "b>c"] }),
  workflow({
    id: "channel-ttl",
    nodes: {
      first: write("a"),
      second: write("b"),
      pause: { typeId: "core.delay", config: { ms: 300 } },
      last: write("d"),
    },
    edges: ["first>second", "second>pause", "pause>last"],
  }),
  workflow({ id: "conformance-noop", nodes: { noop: "core.noop" } }),
  workflow({
    id: "dispatch-loop",
    nodes: { orchestrator: "core.orchestrator.supervisor", dispatch: "core.dispatch" },
    edges: ["orchestrator>dispatch", "dispatch>orchestrator"],
  }),
  workflow({ id: "missing", nodes: { n1: "conformance.requiresMissing" } }),
  workflow({
    id: "strict-options",
    nodes: { noop: "core.noop" },
    configurableSchema: {
      type: "object",
      additionalProperties: false,
      properties: { recursionLimit: { type: "integer" } },
    },
  }),
];
