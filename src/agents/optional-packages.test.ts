import { describe, expect, test } from "vitest";
import { packagesFor, requirePackages } from "./optional-packages.ts";

describe("the packages of an agents file", () => {
  test.each([
    ["without models and servers", [], [], []],
    ["with models of one provider", ["openai", "openai"], [], ["ai", "@ai-sdk/openai"]],
    [
      "with models of two",
      ["anthropic", "openai-compatible"],
      [],
      ["ai", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible"],
    ],
    ["with an MCP server", [], [{ name: "t" }], ["@modelcontextprotocol/sdk"]],
  ] as const)("%s are those that it needs", (_, providers, mcp, wanted) => {
    const models = new Map(providers.map((provider, index) => [`m${index}`, { provider, model: "m" }]));
    expect(packagesFor({ models, mcp })).toEqual(wanted);
  });
});

describe("a package that is wanted", () => {
  test("is named with the command that installs it when it is missing", () => {
    const isThere = (name: string) => name === "there";
    expect(() => requirePackages(["there", "a", "b"], "it needs", isThere)).toThrow(
      "it needs packages that are not installed; run `npm install a b`",
    );
  });

  test("is found where it is installed, and is no trouble", () => {
    requirePackages(["ai", "@ai-sdk/openai", "@modelcontextprotocol/sdk"], "it needs");
    expect(() => requirePackages(["no-such-package"], "it needs")).toThrow("not installed");
  });
});
