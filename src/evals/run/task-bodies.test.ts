import { expect, test } from "vitest";
import type { ToolResult } from "../../agents/tool-surface.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { BodyRecorder } from "./task-bodies.ts";

const SECRET = `AKIA${"ABCDEFGHIJKLMNOP"}`;
const ok: ToolResult = { status: "ok", outcome: 1 };
const recorder = () => new BodyRecorder(scrubber());

test("a trial that neither reasons nor calls has no body", () => {
  expect(recorder().body("inv-1")).toBeUndefined();
});

test("reasoning is kept up to a bound, passage by passage", () => {
  const one = recorder();
  one.reasoned("First.");
  one.reasoned("x".repeat(30_000));
  one.reasoned("Last.");
  const { reasoning = "" } = one.body("inv-1") ?? {};
  expect(reasoning).toHaveLength(20_000);
  expect(reasoning.startsWith("First.\n\nxxx")).toBe(true);
});

test("arguments, results and errors of calls are scrubbed and cut", () => {
  const one = recorder();
  one.called({ tool: "crm:find", arguments: { key: SECRET }, answer: { status: "ok", outcome: "y".repeat(30_000) } });
  one.called({ tool: "crm:find", arguments: undefined, answer: { status: "error", error: `no ${SECRET}` } });
  const { toolCalls = [] } = one.body("inv-1") ?? {};
  expect(JSON.stringify(toolCalls)).not.toContain(SECRET);
  expect(toolCalls[0]?.result).toHaveLength(20_000);
  expect(toolCalls[1]).toMatchObject({ arguments: null, error: { code: "tool_error" } });
});

test("an error has the code that the agent was given", () => {
  const one = recorder();
  const answers: ToolResult[] = [
    { status: "error", code: "fixture_missing", error: "no fixture" },
    { status: "forbidden", error: "not allowed" },
    { status: "rate_limited", error: "" },
  ];
  for (const answer of answers) one.called({ tool: "crm:find", arguments: {}, answer });
  const codes = one.body("inv-1")?.toolCalls.map(({ error }) => error?.code);
  expect(codes).toEqual(["fixture_missing", "tool_not_allowed", "tool_rate_limited"]);
});

test("calls are kept up to a number and a size, and the rest is counted", () => {
  const many = recorder();
  for (let i = 0; i < 205; i++) many.called({ tool: "t", arguments: { i }, answer: ok });
  expect(many.body("inv-1")).toMatchObject({ toolCallsLeftOut: 5 });
  expect(many.body("inv-1")?.toolCalls).toHaveLength(200);
  const big = recorder();
  for (let i = 0; i < 20; i++) big.called({ tool: "t", arguments: "z".repeat(19_000), answer: ok });
  expect(big.body("inv-1")?.toolCalls.length).toBeLessThan(12);
});

test("arguments that cannot be kept are named as such", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 100; i++) deep = [deep];
  const one = recorder();
  one.called({ tool: "t", arguments: deep, answer: { status: "error", error: "no" } });
  expect(one.body("inv-1")?.toolCalls[0]?.arguments).toContain("not kept");
});
