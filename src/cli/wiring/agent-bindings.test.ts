import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentTask } from "../../testing/agent-task.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { defaultConfig } from "../settings/config.ts";
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
  expect(
    bindings.bindingFor({ agentId: "local.team.one", modelClass: "general" }, undefined, "default"),
  ).toBeUndefined();
});

test("what a program complains about is told without secrets", async () => {
  const entry = { type: "command", program: "sh", args: ["-c", "echo hunter2 >&2; exit 1"] };
  const file = agentsFileOf(configWith({ bindings: { "local.team.one": entry } }));
  const scrubText = (text: string) => text.replace("hunter2", "[REDACTED]");
  const binding = agentBindings(file, { scrubText }).bindingFor({ agentId: "local.team.one" }, undefined, "default");
  const answer = await binding?.call(agentTask(), quiet);
  expect(answer).toMatchObject({ error: { message: "sh ended with exit code 1: [REDACTED]" } });
});

const PRINT_ALL = "process.stdout.write(JSON.stringify(process.env))";

/** The environment of a program that is bound like this, without what marks it as ours. */
async function seenBy(more: object, env: Record<string, string | undefined>): Promise<unknown> {
  const entry = { type: "command", program: process.execPath, args: ["-e", PRINT_ALL], ...more };
  const file = agentsFileOf(configWith({ bindings: { "local.team.one": entry } }));
  const binding = agentBindings(file, { scrubText: (text) => text }, env).bindingFor(
    { agentId: "local.team.one" },
    undefined,
    "default",
  );
  const answer = await binding?.call(agentTask(), quiet);
  if (answer?.type !== "completed") return answer;
  const variables = Object.entries(answer.output as Record<string, string>);
  return Object.fromEntries(variables.filter(([name]) => !/^(ASSAY_STARTED_.*|PWD)$/.test(name)));
}

test("a program of a server sees a few variables, those of its task and those that its binding names", async () => {
  const plain = { PATH: "/bin", HOME: "/h", LANG: "C", TZ: "UTC", TMPDIR: "/tmp" };
  const secrets = { OPENAI_API_KEY: "o", AWS_SECRET_ACCESS_KEY: "a", PGPASSWORD: "p", ASSAY_KEY: "k", CI: "1" };
  const env = { ...plain, ...secrets };
  const task = { ASSAY_RUN_ID: agentTask().runId };
  expect(await seenBy({}, env)).toEqual({ ...plain, ...task });
  expect(await seenBy({ env: ["CI"] }, env)).toEqual({ ...plain, ...task, CI: "1" });
  const given = { env: { OPENAI_API_KEY: true, MODE: "quiet", LANG: "de" } };
  expect(await seenBy(given, env)).toEqual({ ...plain, ...task, OPENAI_API_KEY: "o", MODE: "quiet", LANG: "de" });
});

test("a program whose binding names a variable that is not set is not called", async () => {
  expect(await seenBy({ env: ["NOT_SET"] }, { PATH: "/bin" })).toMatchObject({
    error: { code: "agent_not_configured", message: "the environment has no NOT_SET" },
  });
});

test("a binding that names a variable of the host is refused", () => {
  const entry = { type: "command", program: "sh", env: ["ASSAY_DATABASE_URL"] };
  expect(() => agentsFileOf(configWith({ bindings: { "local.team.one": entry } }))).toThrow(/ASSAY_DATABASE_URL/);
  const mcp = [{ name: "box", command: "sh", env: { ASSAY_KEY: true } }];
  expect(() => agentsFileOf(configWith({ tools: { mcp } }))).toThrow(/must not name ASSAY_KEY/);
});

test("a binding is for the tenants it names, without names for the first tenant, and does not exist for others", () => {
  const says = (more: object) => ({ type: "scripted", script: { default: { output: 1 } }, ...more });
  const file = agentsFileOf(
    configWith({
      bindings: {
        "local.team.first": says({}),
        "local.team.named": says({ tenants: ["acme", "globex"] }),
        "local.team.all": says({ tenants: ["*"] }),
        "local.team.one@1.0.0": says({ tenants: ["acme"] }),
        "local.team.one": says({ tenants: ["globex"] }),
      },
    }),
  );
  const { bindingFor } = agentBindings(file, { scrubText: (text) => text });
  const callable = (agentId: string) =>
    ["default", "acme", "globex"].filter(
      (tenant) => bindingFor({ agentId, version: "1.0.0", modelClass: "general" }, undefined, tenant) !== undefined,
    );
  expect(callable("local.team.first")).toEqual(["default"]);
  expect(callable("local.team.named")).toEqual(["acme", "globex"]);
  expect(callable("local.team.all")).toEqual(["default", "acme", "globex"]);
  expect(callable("local.team.one")).toEqual(["acme", "globex"]);
});

test("a run chooses no model that only bindings for other tenants lead to", () => {
  const models = Object.fromEntries(
    ["of-acme", "of-class", "of-none"].map((name) => [
      name,
      { provider: "openai", model: name, apiKeyEnv: "MODEL_KEY" },
    ]),
  );
  const file = agentsFileOf(
    configWith({
      models,
      modelClasses: { general: "of-class" },
      bindings: { "local.team.one": { type: "model", model: "of-acme", tenants: ["acme"] } },
    }),
  );
  const { bindingFor } = agentBindings(file, { scrubText: (text) => text }, { MODEL_KEY: "of-the-operator" });
  const mayChoose = (tenant: string, agent: object) =>
    Object.keys(models).filter(
      (model) => bindingFor({ agentId: "local.team.other", ...agent }, { model }, tenant)?.model === model,
    );
  for (const agent of [{}, { modelClass: "general" }]) {
    expect(mayChoose("acme", agent)).toEqual(["of-acme", "of-class", "of-none"]);
    expect(mayChoose("default", agent)).toEqual(["of-class", "of-none"]);
    expect(mayChoose("evil", agent)).toEqual(["of-class", "of-none"]);
  }
});

test("a judge with tenants is refused, because it is for the evaluations of every tenant", () => {
  const judge = { type: "scripted", script: { default: { output: 1 } }, tenants: ["acme"] };
  expect(() => agentsFileOf(configWith({ judge }))).toThrow("/judge/tenants must be left out");
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
