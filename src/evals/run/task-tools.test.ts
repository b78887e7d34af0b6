import { expect, test } from "vitest";
import { allowedTools, unusedFixtures } from "./task-tools.ts";

const TOOLS = { toolResponses: [{ tool: "a:x", response: 1 }, { tool: "a:x" }, { tool: "a:y" }] };
const SEED = { memorySeed: [{ content: "tea" }] };

test.each([
  ["model", []],
  ["http", []],
  ["command", ["memorySeed"]],
  ["scripted", ["memorySeed"]],
] as const)("a seed that nothing asked for counts for a %s as unused: %j", (kind, unused) => {
  expect(unusedFixtures(SEED, { kind }, [])).toEqual(unused);
  expect(unusedFixtures(SEED, { kind }, ["memory:put"])).toEqual(unused);
  expect(unusedFixtures(SEED, { kind }, ["memory:get"])).toEqual([]);
});

test("a tool counts as used when it was asked once, whatever answers are left", () => {
  const kind = "command";
  expect(unusedFixtures(TOOLS, { kind }, [])).toEqual(["a:x", "a:y"]);
  expect(unusedFixtures(TOOLS, { kind }, ["a:x", "a:z"])).toEqual(["a:y"]);
  expect(unusedFixtures(undefined, { kind }, [])).toBeUndefined();
  expect(unusedFixtures({ toolResponses: [], memorySeed: [] }, { kind }, [])).toBeUndefined();
});

test("a manifest says which tools may be called; without one the fixtures do", () => {
  const fixtures = { ...TOOLS, ...SEED };
  expect(allowedTools({ toolAllowlist: ["b:z", "b:z"] }, fixtures)).toEqual(["b:z"]);
  const without = { toolAllowlist: [], hasManifest: false } as const;
  expect(allowedTools(without, fixtures)).toEqual(["a:x", "a:y", "memory:list", "memory:get"]);
  expect(allowedTools(without)).toEqual([]);
});
