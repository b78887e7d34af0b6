import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { watched } from "../../testing/agent-task.ts";
import { ModelServer } from "../../testing/model-server.ts";
import { chatStream } from "../../testing/model-streams.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { loadAgentsFile, parseAgentsFile } from "./agents-file.ts";
import { type Bindings, bindingsOf } from "./bindings.ts";

/** An agents file in a folder of its own, with files beside it. */
function fileWith(content: unknown, beside: Readonly<Record<string, unknown>> = {}): string {
  const folder = tempDir();
  for (const [name, value] of Object.entries({ ...beside, "agents.json": content })) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  }
  return join(folder, "agents.json");
}

function bindings(content: unknown, environment: Record<string, string> = {}, beside = {}): Bindings {
  const world = { environment: { PATH: process.env["PATH"] ?? "", ...environment }, scrubText: (text: string) => text };
  return bindingsOf(loadAgentsFile(fileWith(content, beside)), world);
}

async function outputOf(found: Bindings, agentId: string, version?: string, modelClass?: string): Promise<unknown> {
  const binding = found.bindingFor({ agentId, version, modelClass }, undefined, "default");
  if (binding === undefined) return undefined;
  const { answer } = await watched(binding);
  return answer.type === "completed" ? answer.output : answer;
}

const says = (output: unknown) => ({ type: "scripted", script: { default: { output } } });

describe("the binding of an agent", () => {
  test("is that of its version, else its own, else a model of its class, else none", async () => {
    const server = await ModelServer.start(() => chatStream({ text: ["a model"] }));
    const found = bindings({
      models: { local: { provider: "openai-compatible", baseUrl: server.url, model: "m" } },
      modelClasses: { reasoning: "local" },
      bindings: { "local.team.one@1.0.0": says("this version"), "local.team.one": says("any version") },
    });
    expect(await outputOf(found, "local.team.one", "1.0.0", "reasoning")).toBe("this version");
    expect(await outputOf(found, "local.team.one", "2.0.0", "reasoning")).toBe("any version");
    expect(await outputOf(found, "local.team.one")).toBe("any version");
    expect(await outputOf(found, "local.team.two", "1.0.0", "reasoning")).toBe("a model");
    expect(await outputOf(found, "local.team.two", "1.0.0", "writing")).toBeUndefined();
    expect(server.calls).toHaveLength(1);
    await server.close();
  });

  test("is the same from one call to the next", async () => {
    const script = { sequence: [{ output: 1 }, { output: 2 }] };
    const found = bindings({ bindings: { "local.team.one": { type: "scripted", script } } });
    expect([await outputOf(found, "local.team.one"), await outputOf(found, "local.team.one")]).toEqual([1, 2]);
  });

  test("may be a program, in the folder of the file or one below", async () => {
    const command = { type: "command", program: "cat", args: ["note.txt"], directory: "sub" };
    const found = bindings({ bindings: { "local.team.one": command } }, {}, { "sub/note.txt": "here" });
    expect(await outputOf(found, "local.team.one")).toBe("here");
  });

  test("may be a script in a file beside it", async () => {
    const entry = { type: "scripted", file: "answers.json" };
    const beside = { "answers.json": { default: { output: "from the file" } } };
    expect(await outputOf(bindings({ bindings: { "local.team.one": entry } }, {}, beside), "local.team.one")).toBe(
      "from the file",
    );
  });

  test("may be an endpoint on this machine, with keys from the environment alone", async () => {
    const server = await ModelServer.start(() => ({ type: "raw", body: '{"output":"there"}' }));
    const entry = { type: "http", url: `${server.url}/x`, apiKeyEnv: "AGENT_KEY", headersEnv: { "X-Team": "TEAM" } };
    const content = { bindings: { "local.team.one": entry } };
    expect(await outputOf(bindings(content, { AGENT_KEY: "k1", TEAM: "t1" }), "local.team.one")).toBe("there");
    expect(server.calls[0]?.headers).toMatchObject({ authorization: "Bearer k1", "x-team": "t1" });
    expect(await outputOf(bindings(content, { AGENT_KEY: "k1" }), "local.team.one")).toMatchObject({
      error: { code: "agent_not_configured", message: "the environment has no TEAM" },
    });
    expect(server.calls).toHaveLength(1);
    await server.close();
  });

  test("may be an endpoint under a public name, and is not called where the name leads into this network", async () => {
    const server = await ModelServer.start(() => ({ type: "raw", body: '{"output":"inside"}' }));
    const { port } = new URL(server.url);
    const entry = { type: "http", url: `https://agents.example.org:${port}/x`, attemptsMax: 1 };
    const lookedUp: string[] = [];
    const resolve = async (name: string) => {
      lookedUp.push(name);
      return [{ address: "127.0.0.1", family: 4 }];
    };
    const found = (more: object) => {
      const file = loadAgentsFile(fileWith({ bindings: { "local.team.one": { ...entry, ...more } } }));
      return bindingsOf(file, { environment: {}, scrubText: (text) => text, resolve });
    };
    expect(await outputOf(found({}), "local.team.one")).toMatchObject({
      error: { code: "agent_unreachable", message: expect.stringContaining("not public") },
    });
    expect(server.calls).toEqual([]);
    const plain = { url: `http://agents.example.org:${port}/x` };
    expect(() => found(plain)).toThrow(/must have an https URL, or "allowPrivate": true/);
    expect(await outputOf(found({ ...plain, allowPrivate: true }), "local.team.one")).toBe("inside");
    expect(lookedUp).toEqual(["agents.example.org", "agents.example.org"]);
    await server.close();
  });

  test("has the key and the prices of its model", async () => {
    const server = await ModelServer.start(() => chatStream({ text: ["x"] }));
    const content = {
      models: {
        local: { provider: "openai-compatible", baseUrl: server.url, model: "m", apiKeyEnv: "MODEL_KEY" },
        listed: { provider: "openai-compatible", providerName: "openai", baseUrl: server.url, model: "gpt-4o" },
      },
      prices: { m: { input: 10, output: 0 }, "openai/gpt-4o": { input: 20, output: 0 } },
      bindings: {
        "local.team.one": { type: "model", model: "local" },
        "local.team.two": { type: "model", model: "listed" },
      },
    };
    const binding = bindings(content, { MODEL_KEY: "k2" }).bindingFor(
      { agentId: "local.team.one" },
      undefined,
      "default",
    );
    if (binding === undefined) throw new Error("no binding");
    expect((await watched(binding)).usage).toMatchObject([{ provider: "openai-compatible", costUsd: 0.001 }]);
    const listed = bindings(content).bindingFor({ agentId: "local.team.two" }, undefined, "default");
    // Also where there is a list price.
    expect(listed && (await watched(listed)).usage).toMatchObject([{ provider: "openai", costUsd: 0.002 }]);
    expect(server.calls[0]?.headers["authorization"]).toBe("Bearer k2");
    expect(await outputOf(bindings(content), "local.team.one")).toMatchObject({
      error: { code: "agent_not_configured", message: "the environment has no MODEL_KEY" },
    });
    await server.close();
  });

  test("of the judge is one like any other", async () => {
    const { judge } = bindings({ judge: says({ score: 1 }) });
    expect(judge?.kind).toBe("scripted");
    expect(bindings({}).judge).toBeUndefined();
  });
});

describe("an agents file", () => {
  const problemsOf = (value: unknown) => {
    const read = parseAgentsFile(value, tempDir());
    return read.ok ? [] : read.problems.map(({ path, problem }) => `${path} ${problem}`);
  };

  test("that is wrong says so with everything that is", () => {
    expect(
      problemsOf({
        models: {
          a: { provider: "openai", model: "gpt-5" },
          b: { provider: "openai-compatible", model: "m", api: "chat", retryMs: 10, retryMaxMs: 1 },
          c: { provider: "anthropic", model: "m", apiKeyEnv: "K", baseUrl: "ftp://x" },
        },
        modelClasses: { reasoning: "nobody" },
        bindings: {
          "local.team.one": { type: "model", model: "nothing" },
          "local.team.two": { type: "command", args: "x", timeout: 1 },
          "local.team.three": { type: "magic" },
          "local.team.four": { type: "scripted" },
          "local.team.five": { type: "scripted", file: "missing.json" },
          "local.team.six": { type: "scripted", script: { default: {} } },
          "local.team.seven": { type: "http", url: "nowhere" },
          "not an agent": says(1),
        },
        judge: 7,
        tools: { mcp: [{ name: "x" }, { name: "x", url: "http://127.0.0.1", args: [] }] },
      }),
    ).toEqual([
      '/models/a must have "apiKeyEnv", the name of the environment variable with the key of openai',
      '/models/b must have "baseUrl", since its provider is openai-compatible',
      '/models/b must not have "api", which is for provider openai',
      "/models/b must have a retryMs that is not longer than retryMaxMs",
      "/models/c must have an http or https URL as baseUrl",
      '/modelClasses/reasoning names model "nobody", which is not in /models',
      '/bindings/local.team.one/model names model "nothing", which is not in /models',
      '/bindings/local.team.two must have "program"',
      '/bindings/local.team.two must not have "timeout"; remove it',
      "/bindings/local.team.two/args must be array",
      "/bindings/local.team.three must have a type: command, http, scripted, model",
      "/bindings/local.team.four must have exactly one of file, script",
      "/bindings/local.team.five/file missing.json cannot be read: ENOENT",
      "/bindings/local.team.six/script/default must have exactly one of output, echo, refused, error",
      "/bindings/local.team.seven must have an http or https URL as url",
      "/bindings/not an agent must be named for an agent: agentId or agentId@version",
      "/judge must have a type: command, http, scripted, model",
      "/tools/mcp/0 must have exactly one of command, url",
      "/tools/mcp/1 must not have args or env together with url",
      "/tools/mcp/1/name is there twice",
    ]);
  });

  test("has no members that nobody knows, and is told of the rest too", () => {
    const problems = problemsOf({
      model: {},
      modelClasses: { chat: "x" },
      prices: { m: { input: -1, output: 1 } },
      tools: [],
      bindings: { "local.team.one": { type: "magic" } },
    });
    expect(problems).toEqual(
      [
        'must not have "model"',
        '/modelClasses must not have "chat"',
        "/prices/m/input",
        "/tools must be object",
        '/modelClasses/chat names model "x"',
        "/bindings/local.team.one must have a type",
      ].map((part) => expect.stringContaining(part)),
    );
  });

  test("holds no keys", () => {
    const key = `sk-${"a1B2c3D4".repeat(6)}`;
    const mcp = [{ name: "git", command: "git-mcp", env: { TOKEN: key } }];
    const problems = problemsOf({ models: { a: { provider: "openai", model: "m", apiKeyEnv: key } }, tools: { mcp } });
    expect(problems).toContain(
      "/models/a/apiKeyEnv looks like a secret; keep it in the environment and name the variable here",
    );
    expect(problems.some((one) => one.startsWith("/tools/mcp/0/env/TOKEN looks like a secret"))).toBe(true);
    expect(problems.join()).not.toContain(key);
  });

  test.each([
    ["no JSON", "{", "it is not JSON"],
    ["no object", "[]", "it must be object"],
  ])("that is %s is refused", (_, content, problem) => {
    expect(() => loadAgentsFile(fileWith(content))).toThrow(problem);
  });

  test("that is not there is named", () => {
    expect(() => loadAgentsFile("/no/such/agents.json")).toThrow(
      "/no/such/agents.json cannot be used: it cannot be read",
    );
  });
});
