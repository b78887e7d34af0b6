import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentTask } from "../../testing/agent-task.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { defaultConfig } from "../config.ts";
import { agentBindings, agentsFileOf, keysNamedIn } from "./agent-bindings.ts";
import { processScrubber } from "./process-scrubber.ts";

function configWith(content: object) {
  const agents = join(tempDir(), "agents.json");
  writeFileSync(agents, JSON.stringify(content));
  return { agents };
}

const quiet = { chunk: () => {}, reasoning: () => {}, usage: () => {} };

test("without an agents file no agent can be called", () => {
  const bindings = agentBindings(agentsFileOf({ agents: undefined }), { scrubText: (text) => text });
  expect(bindings.bindingFor({ agentId: "local.team.one", modelClass: "general" })).toBeUndefined();
});

test("what a program complains about is told without secrets", async () => {
  const entry = { type: "command", program: "sh", args: ["-c", "echo hunter2 >&2; exit 1"] };
  const file = agentsFileOf(configWith({ bindings: { "local.team.one": entry } }));
  const scrubText = (text: string) => text.replace("hunter2", "[REDACTED]");
  const binding = agentBindings(file, { scrubText }).bindingFor({ agentId: "local.team.one" });
  const answer = await binding?.call(agentTask(), quiet);
  expect(answer).toMatchObject({ error: { message: "sh ended with exit code 1: [REDACTED]" } });
});

test("what the client of our database goes by is not handed on", async () => {
  const entry = { type: "command", program: "sh", args: ["-c", "echo $PGPASSWORD none"] };
  const file = agentsFileOf(configWith({ bindings: { "local.team.one": entry } }));
  const env = { PATH: process.env["PATH"], PGPASSWORD: "theirs" };
  const said = async (hasDatabase: boolean) => {
    const bindings = agentBindings(file, { scrubText: (text) => text }, { hasDatabase }, env);
    return bindings.bindingFor({ agentId: "local.team.one" })?.call(agentTask(), quiet);
  };
  expect([await said(true), await said(false)]).toMatchObject([{ output: "none" }, { output: "theirs none" }]);
});

test("the keys that the file names are known secrets", () => {
  const file = agentsFileOf(
    configWith({
      models: {
        a: { provider: "anthropic", model: "m", apiKeyEnv: "A" },
        b: { provider: "openai", model: "m", apiKeyEnv: "B" },
      },
      bindings: {
        "local.team.one": { type: "http", url: "https://x.example", apiKeyEnv: "C", headersEnv: { "X-D": "D" } },
      },
      judge: { type: "http", url: "https://x.example", apiKeyEnv: "E" },
      tools: { mcp: [{ name: "m", url: "https://x.example", apiKeyEnv: "F" }] },
    }),
  );
  const env = { A: "a1", B: "", C: "c1", D: "d1", E: "e1", F: "f1", G: "g1" };
  expect(keysNamedIn(file, env).sort()).toEqual(["a1", "c1", "d1", "e1", "f1"]);
});

test("a process takes them out of what it writes", async () => {
  const config = configWith({ models: { a: { provider: "anthropic", model: "m", apiKeyEnv: "A" } } });
  const scrubber = await processScrubber({ ...defaultConfig(), ...config }, { A: "the key of an agent" });
  expect(scrubber.scrubText("with the key of an agent.")).toBe("with [REDACTED].");
});
