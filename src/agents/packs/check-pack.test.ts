import { describe, expect, test } from "vitest";
import { packSuites } from "../../evals/suite/suite-store.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { agentManifest, type Manifest, PROMPT, packFiles, packManifest } from "../../testing/packs.ts";
import { evalSuite } from "../../testing/suite-builders.ts";
import { type CheckedPack, checkPack, type Pack, problemText, requirePack } from "./check-pack.ts";
import type { PackFiles } from "./pack-files.ts";

const SHAPES = scrubber();
const check = (files: PackFiles): CheckedPack => checkPack(files, packSuites(SHAPES), SHAPES);
const pack = (files = packFiles()): Pack => requirePack(check(files));
const problems = (manifest: unknown, more: Parameters<typeof packFiles>[1] = {}): string[] => {
  const checked = check(packFiles(manifest, more));
  return checked.ok ? [] : checked.problems.map(problemText);
};
const agent = (more: Manifest) => packManifest({ agents: [agentManifest(more)] });

describe("a pack", () => {
  test("gives its agents with everything they refer to", () => {
    const found = pack(packFiles(agent({ label: "Refunds", confidence: { defaultThreshold: 0.6 } })));
    expect(found).toMatchObject({ name: "local.acme.support", version: "1.0.0", needs: [] });
    expect(found.agents).toEqual([
      {
        agentId: "local.acme.support.refunds",
        version: "1.0.0",
        packName: "local.acme.support",
        persona: "Refunds clerk",
        label: "Refunds",
        modelClass: "general",
        systemPrompt: PROMPT,
        toolAllowlist: [],
        taskSchema: { type: "object", required: ["item"] },
        returnSchema: { type: "object", required: ["refund"] },
        confidenceThreshold: 0.6,
        evalSuiteRef: "acme.support.evals.refunds@1.0.0",
        contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(found.suites.map(({ ref }) => ref)).toEqual(["acme.support.evals.refunds@1.0.0"]);
  });

  test("may write a prompt into its manifest and leave the rest out", () => {
    const bare = { agentId: "core.x.y", persona: "P", modelClass: "coding", systemPrompt: "Code." };
    const [found] = pack(packFiles(packManifest({ agents: [bare] }))).agents;
    expect(found).toMatchObject({ systemPrompt: "Code.", toolAllowlist: [] });
    expect(found).not.toHaveProperty("taskSchema");
  });

  test("has a hash of each agent that changes with whatever it is told, and with nothing else", () => {
    const hash = (files: PackFiles) => pack(files).agents[0]?.contentHash;
    const base = hash(packFiles());
    expect(hash(packFiles(packManifest(), { "README.md": "hello" }))).toBe(base);
    expect(hash(packFiles(packManifest(), { "prompts/refunds.md": `${PROMPT} ` }))).not.toBe(base);
    expect(hash(packFiles(packManifest(), { "schemas/task.json": "{}" }))).not.toBe(base);
    expect(hash(packFiles(agent({ toolAllowlist: ["mcp:search"] })))).not.toBe(base);
  });

  test("has a hash of its own that changes with every file", () => {
    expect(pack().sha256).toBe(pack(packFiles()).sha256);
    expect(pack(packFiles(packManifest(), { "README.md": "hello" })).sha256).not.toBe(pack().sha256);
  });

  test("needs what it says it cannot do without, and does less without the rest", () => {
    const manifest = packManifest({
      peerDependencies: { "agents.liveRuntime": "supported", "host.workspace": "supported" },
      peerDependenciesMeta: { "host.workspace": { optional: true } },
      agents: [agentManifest({ requiresCapabilities: ["memory"] })],
    });
    const found = pack(packFiles(manifest));
    expect(found.needs).toEqual(["agents.liveRuntime"]);
    expect(found.agents[0]?.requiresCapabilities).toEqual(["memory", "host.workspace"]);
  });
});

describe("the schemas of a pack", () => {
  const schema = (n: number) => JSON.stringify({ enum: Array.from({ length: 30_000 }, (_, i) => i + n) });
  const agents = (files: number) =>
    Array.from({ length: files }, (_, i) =>
      agentManifest({ agentId: `local.acme.support.a${i}`, handoff: { taskSchemaRef: `schemas/s${i}.json` } }),
    );
  const filesOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`schemas/s${i}.json`, schema(i)]));

  test("may be large each, and have a limit together", () => {
    expect(problems(packManifest({ agents: agents(4) }), filesOf(4))).toEqual([]);
    expect(problems(packManifest({ agents: agents(8) }), filesOf(8)).join()).toContain(
      "is too large: the schemas of the pack have more than",
    );
  });

  test("count once, however many agents name the same file", () => {
    const shared = agents(20).map((one) => ({ ...one, handoff: { taskSchemaRef: "schemas/s0.json" } }));
    expect(problems(packManifest({ agents: shared }), filesOf(1))).toEqual([]);
  });
});

describe("what is wrong with a pack", () => {
  test("is said all at once", () => {
    const manifest = packManifest({
      version: "1.0",
      surprise: 1,
      nodes: [{}],
      dependencies: { "core.other": "*" },
      agents: [
        agentManifest({ persona: "", modelClass: "chat", systemPrompt: "Both." }),
        agentManifest({
          systemPromptRef: "prompts/none.md",
          evalSuiteRef: "../evals/refunds.json",
          toolAllowlist: ["search"],
        }),
      ],
    });
    const more = { "schemas/task.json": "{", "schemas/answer.json": '{"type":"nothing"}' };
    expect(problems(manifest, more)).toEqual([
      expect.stringMatching(/^pack\.json must not have "surprise"/),
      expect.stringMatching(/^pack\.json \/version /),
      expect.stringMatching(/^pack\.json \/agents\/0\/persona /),
      expect.stringMatching(/^pack\.json \/agents\/0\/modelClass must be one of /),
      "pack.json /nodes must be empty: this host takes packs of agents only",
      "pack.json /dependencies must be empty: this host installs packs one by one and looks for no others",
      "pack.json /agents/1/agentId is the id of another agent in this pack",
      'pack.json /agents/0 must have exactly one of "systemPrompt", "systemPromptRef"',
      "schemas/task.json is not JSON",
      expect.stringMatching(/^schemas\/answer\.json is not a usable JSON Schema: /),
      'pack.json /agents/1/toolAllowlist/0 must be "<scope>:<tool-id>", like mcp:search',
      'pack.json /agents/1/systemPromptRef names "prompts/none.md", which is no file of the pack',
      "schemas/task.json is not JSON",
      expect.stringMatching(/^schemas\/answer\.json is not a usable JSON Schema: /),
      'pack.json /agents/1/evalSuiteRef names "../evals/refunds.json", which is no file of the pack',
    ]);
  });

  test.each([
    ["nothing at all", "null"],
    ["a list", "[]"],
    ["a text", '"pack"'],
    ["agents that are none", '{"agents":[null,1,"x",{}]}'],
    ["agents that are a text", '{"agents":"x"}'],
    [
      "members of all wrong kinds",
      '{"agents":[{"handoff":1,"toolAllowlist":{},"systemPromptRef":7}],"peerDependencies":[1]}',
    ],
    ["a name that is half a character", '{"name":"\\ud800"}'],
    ["a depth that nobody needs", "[".repeat(100_000)],
  ])("is said of a manifest that is %s", (_, text) => {
    expect(problems(undefined, { "pack.json": text }).length).toBeGreaterThan(0);
  });

  test("is a manifest that is not there", () => {
    expect(problems(undefined, { "pack.json": undefined })).toEqual(["pack.json is missing"]);
  });

  test.each([">=1.0 <2.0.0", ">= 1.0 < 2", "^1.0.0", "~1.1", "1.x", "1.0 - 2", "*", "0.9 || ^1.1", ">=1.1.0-rc.1"])(
    "is not a range that includes the protocol that is spoken here: %s",
    (openwop) => {
      expect(problems(packManifest({ engines: { openwop } }))).toEqual([]);
    },
  );

  test.each(["^2.0.0", "<1.1", "~1.0", ">=1.0 and more", "whatever", `${" ".repeat(300)}1`])(
    "is a protocol that is not spoken here: %s",
    (openwop) => {
      const said = "pack.json /engines/openwop must be a range that includes 1.1, which this host speaks";
      expect(problems(packManifest({ engines: { openwop } }))).toEqual([said]);
    },
  );

  test("is a prompt that comes from a library, which there is none of", () => {
    const promptOverrides = { system: "house:clerk@1", user: "house:ask@1", "few-shot": "house:shots@1" };
    expect(problems(agent({ promptOverrides }))).toEqual(
      ["user", "few-shot"].map(
        (kind) => `pack.json /agents/0/promptOverrides/${kind} cannot be used: this host has no library of prompts`,
      ),
    );
    expect(problems(agent({ promptOverrides: { system: "house:clerk@1" }, promptLibraryRef: "house" }))).toEqual([]);
  });

  test.each([
    ["host:supervisor"],
    ["acme.refunds"],
    ["vendor.acme"],
    ["Vendor.acme.x"],
    ["local.acme.support@1"],
    [`local.acme.${"x".repeat(250)}`],
  ])("is an agent that is called %s", (agentId) => {
    expect(problems(agent({ agentId }))).toContainEqual(expect.stringMatching(/^pack\.json \/agents\/0\/agentId /));
  });

  test.each([
    ["a prompt that is empty", { "prompts/refunds.md": " \n" }, "prompts/refunds.md is empty"],
    ["a prompt that is not text", { "prompts/refunds.md": Buffer.from([0xff]) }, "prompts/refunds.md is not UTF-8"],
    ["a prompt that is too long", { "prompts/refunds.md": "x".repeat(262_145) }, "prompts/refunds.md is larger than"],
    ["a schema that is a list", { "schemas/task.json": "[]" }, "schemas/task.json is not a JSON Schema"],
    [
      "a schema from elsewhere",
      { "schemas/task.json": '{"$ref":"https://a.example/x"}' },
      "schemas/task.json is not a usable",
    ],
    ["a suite that is none", { "evals/refunds.json": "{}" }, "evals/refunds.json"],
  ])("is %s", (_, more, problem) => {
    expect(problems(packManifest(), more)).toContainEqual(expect.stringContaining(problem));
  });

  test("is every problem of a suite it brings", () => {
    const suite = { ...evalSuite(), version: "one", modes: [] };
    const said = problems(packManifest(), { "evals/refunds.json": JSON.stringify(suite) });
    expect(said).toHaveLength(2);
    expect(said.join()).toMatch(/\/version.*\/modes/);
  });

  test("is two suites with one name", () => {
    const manifest = packManifest({
      agents: [
        agentManifest(),
        agentManifest({ agentId: "local.acme.support.other", evalSuiteRef: "evals/other.json" }),
      ],
    });
    const other = JSON.stringify({ ...evalSuite(), targetAgentId: "local.acme.support.other" });
    expect(problems(manifest, { "evals/other.json": other })).toEqual([
      expect.stringMatching(/^evals\/other\.json is /),
    ]);
  });

  test("is a member twice in one object of any of its JSON files", () => {
    const twice = (value: unknown, member: string) => JSON.stringify(value).replace(/^\{/, `{${member},`);
    const schema = { type: "object", required: ["item"] };
    expect(problems(packManifest(), { "schemas/task.json": twice(schema, '"type":"string"') })).toEqual([
      expect.stringMatching(/^schemas\/task\.json has the member "type" twice in one object/),
    ]);
    expect(problems(packManifest(), { "evals/refunds.json": twice(evalSuite(), '"version":"9.9.9"') })).toEqual([
      "evals/refunds.json /version is there more than once",
    ]);
    expect(problems(packManifest(), { "pack.json": twice(packManifest(), '"name":"local.acme.other"') })).toEqual([
      expect.stringMatching(/^pack\.json has the member "name" twice in one object/),
    ]);
  });

  test("is a secret anywhere in it, which is not repeated", () => {
    const secret = `${"AKIA"}IOSFODNN7EXAMPLZ`;
    const said = problems(agent({ description: `use ${secret}` }), {
      "prompts/refunds.md": `key ${secret}`,
      "schemas/task.json": JSON.stringify({ properties: { key: { default: secret }, [secret]: {} } }),
    });
    expect(said).toEqual([
      expect.stringMatching(/^pack\.json \/agents\/0\/description has text that looks like a secret/),
      expect.stringMatching(/^prompts\/refunds\.md has text that looks like a secret/),
      expect.stringMatching(/^schemas\/task\.json \/properties\/key\/default has text that looks like a secret/),
      expect.stringMatching(/^schemas\/task\.json \/properties has a member whose name looks like a secret/),
    ]);
    expect(said.join()).not.toContain(secret);
  });
});
