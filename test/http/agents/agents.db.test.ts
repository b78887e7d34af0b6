import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Binding } from "../../../src/agents/binding.ts";
import { packArchive } from "../../../src/agents/packs/pack-archive.ts";
import type { PackFiles } from "../../../src/agents/packs/pack-files.ts";
import { readSuite } from "../../../src/evals/suite/suite-store.ts";
import { AgentEntry, AgentInventory, AgentVersions, InstallPackResponse } from "../../../src/protocol/agents/api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { agentsOn } from "../../../src/testing/agents-on.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { EVAL_SETTINGS } from "../../../src/testing/eval-bench.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import {
  agentManifest,
  type Manifest,
  PROMPT,
  packFiles,
  packManifest,
  signedPack,
  testPublisher,
} from "../../../src/testing/packs.ts";
import { evalSuite } from "../../../src/testing/suite-builders.ts";

const INSTALL = "/v1/host/assay/agents:install";
const acme = testPublisher("Acme", ["local.acme.", "vendor.acme."]);

/** A pack of one agent, both named for the test. */
function named(name: string, version = "1.0.0", agent: Manifest = {}): PackFiles {
  const agents = [agentManifest({ agentId: `local.acme.${name}.agent`, evalSuiteRef: undefined, ...agent })];
  return packFiles(packManifest({ name: `local.acme.${name}`, version, agents }));
}

const idOf = (name: string) => `local.acme.${name}.agent`;

describe.each(HTTP_STORES)("agents on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;
  const callable = new Set<string>();
  const active = new Map<string, string[]>();
  beforeAll(async () => {
    const { store, drop: dropStore } = await open();
    drop = dropStore;
    const binding: Binding = { kind: "scripted", call: async () => ({ type: "completed", output: "" }) };
    const agents = agentsOn(store, {
      bindingFor: ({ agentId }) => (callable.has(agentId) ? binding : undefined),
      activeVersions: async (_visible, agentId) => active.get(agentId) ?? [],
    });
    const trust = { publishers: [acme.publisher], allowUnsigned: true };
    host = await testHost({ store, deps: { evals: { agents, settings: EVAL_SETTINGS }, trust } });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const send = (body: Uint8Array, as: Who = "owner") =>
    host.ask("POST", INSTALL, { body: Buffer.from(body), as, headers: { "content-type": "application/x-tar" } });
  const install = (files: PackFiles, as: Who = "owner") => send(packArchive(files), as);
  const list = async (as: Who = "owner"): Promise<AgentInventory> =>
    (await host.ask("GET", "/v1/agents", { as })).json();
  const entry = (agentId: string, as: Who = "owner") => host.ask("GET", `/v1/agents/${agentId}`, { as });
  const versions = (agentId: string, as: Who = "owner") =>
    host.ask("GET", `/v1/host/assay/agents/${agentId}/versions`, { as });

  test("an archive becomes agents and suites of the tenant, with an entry in its audit log", async () => {
    const files = packFiles(packManifest({ agents: [agentManifest({ label: "Refunds", description: "Decides." })] }));
    const answer = await send(gzipSync(packArchive(files)));
    expect(answer.statusCode).toBe(201);
    expect(matches(InstallPackResponse, answer.json())).toBe(true);
    expect(answer.json()).toMatchObject({
      packName: "local.acme.support",
      packVersion: "1.0.0",
      agents: ["local.acme.support.refunds"],
      suites: ["acme.support.evals.refunds@1.0.0"],
      created: true,
    });
    const { info, suite } = await readSuite(host.host, "t1", "acme.support.evals.refunds@1.0.0");
    expect(suite).toEqual(evalSuite());
    expect(info).toMatchObject({ registeredBy: "ada", hostWide: false });
    const [agent] = await agentsOn(host.store).versionsOf({ tenant: "t1" }, "local.acme.support.refunds");
    expect(agent).toMatchObject({ systemPrompt: PROMPT, evalSuiteRef: "acme.support.evals.refunds@1.0.0" });
    const { entries } = (await host.ask("GET", "/v1/host/assay/audit/entries?limit=1000")).json();
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: "pack.installed",
        actor: "ada",
        target: "local.acme.support@1.0.0",
        details: expect.objectContaining({
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          agents: ["local.acme.support.refunds"],
        }),
      }),
    );
  });

  test("the inventory shows what it may, and neither prompt nor schemas", async () => {
    const agent = {
      toolAllowlist: ["mcp:search"],
      confidence: { defaultThreshold: 0.6 },
      memoryShape: { scratchpad: true, longTerm: true },
      requiresCapabilities: ["feedback", "agents.manifestRuntime", "host.replay", "host.workspace"],
    };
    callable.add(idOf("shown"));
    await install(named("shown", "1.0.0", agent));
    const shown = await entry(idOf("shown"));
    expect(matches(AgentEntry, shown.json())).toBe(true);
    expect(shown.json()).toEqual({
      agentId: idOf("shown"),
      persona: "Refunds clerk",
      label: "Refunds clerk",
      modelClass: "general",
      packName: "local.acme.shown",
      packVersion: "1.0.0",
      toolAllowlist: ["mcp:search"],
      hasHandoffSchemas: true,
      memoryShape: { scratchpad: true, longTerm: true },
      confidenceThreshold: 0.6,
      degraded: ["host.workspace"],
    });
    const all = await host.ask("GET", "/v1/agents");
    expect(matches(AgentInventory, all.json())).toBe(true);
    expect(all.json().agents).toContainEqual(shown.json());
    for (const { payload } of [all, shown, await versions(idOf("shown"))]) {
      expect(payload).not.toContain("You decide");
      expect(payload).not.toContain('"required"');
      expect(payload).not.toContain("Schema:");
    }
  });

  test("the list is in the order of ids and counts them", async () => {
    for (const [i, name] of ["alpha", "mike", "zulu"].entries()) await install(named(name, `${i + 1}.0.0`));
    const { agents, total } = await list();
    const ids = agents.map(({ agentId }) => agentId);
    expect(ids).toEqual([...ids].sort());
    expect(ids).toEqual(expect.arrayContaining(["zulu", "alpha", "mike"].map(idOf)));
    expect(total).toBe(agents.length);
  });

  test("an agent that nobody can call says so", async () => {
    await install(named("mute"));
    expect((await entry(idOf("mute"))).json()).toMatchObject({ degraded: ["agents.liveRuntime"] });
  });

  test("the version that is shown is the highest active one, else the highest there is", async () => {
    for (const version of ["1.10.0", "2.0.0-rc.1", "1.9.0", "1.10.0-beta"]) await install(named("many", version));
    const answer = await versions(idOf("many"));
    expect(matches(AgentVersions, answer.json())).toBe(true);
    const order = (answer.json() as AgentVersions).versions.map(({ version }) => version);
    expect(order).toEqual(["2.0.0-rc.1", "1.10.0", "1.10.0-beta", "1.9.0"]);
    expect((await entry(idOf("many"))).json()).toMatchObject({ packVersion: "2.0.0-rc.1" });
    active.set(idOf("many"), ["1.9.0", "1.10.0"]);
    expect((await entry(idOf("many"))).json()).toMatchObject({ packVersion: "1.10.0" });
    const found = (await list()).agents.find(({ agentId }) => agentId === idOf("many"));
    expect(found).toMatchObject({ packVersion: "1.10.0" });
    expect((await versions(idOf("many"))).json().versions[1]).toMatchObject({ active: true, callable: false });
  });

  test("the same pack again changes nothing, another one under its name is refused", async () => {
    const files = named("fixed");
    expect((await install(files)).statusCode).toBe(201);
    const again = await install(files);
    expect([again.statusCode, again.json().created]).toEqual([200, false]);
    const details = expectError(await install(named("fixed", "1.0.0", { persona: "Somebody else" })), "pack_conflict");
    expect(details).toMatchObject({ pack: "Pack local.acme.fixed@1.0.0" });
    expectError(await install(new Map([...files, ["README.md", Buffer.from("x")]])), "pack_conflict");
    expect((await entry(idOf("fixed"))).json()).toMatchObject({ persona: "Refunds clerk" });
    expect((await install(named("fixed", "1.0.1", { persona: "Somebody else" }))).statusCode).toBe(201);
  });

  test("an agent of another pack is not replaced", async () => {
    await install(named("first"));
    const thief = packFiles(
      packManifest({ name: "local.acme.thief", agents: [agentManifest({ agentId: idOf("first"), persona: "Thief" })] }),
    );
    expect(expectError(await install(thief), "pack_conflict")).toMatchObject({
      pack: `Agent ${idOf("first")}@1.0.0 of pack local.acme.first`,
    });
    expectError(await host.ask("GET", "/v1/agents/local.acme.thief"), "not_found");
  });

  test("a pack whose suite is here with other content is refused whole", async () => {
    const other = JSON.stringify(evalSuite({ suiteId: "acme.evals.taken", targetAgentId: "local.acme.x.y" }));
    const mine = evalSuite({ suiteId: "acme.evals.taken" });
    await host.ask("PUT", "/v1/host/assay/suites/acme.evals.taken@1.0.0", { json: mine });
    const manifest = packManifest({
      name: "local.acme.taken",
      agents: [agentManifest({ agentId: idOf("taken") })],
    });
    expectError(await install(packFiles(manifest, { "evals/refunds.json": other })), "suite_conflict");
    expectError(await entry(idOf("taken")), "not_found");
    const same = packFiles(manifest, { "evals/refunds.json": JSON.stringify(mine, null, 3) });
    expect((await install(same)).statusCode).toBe(201);
  });

  test("of many who install one version at once with different content exactly one wins", async () => {
    const personas = Array.from({ length: 6 }, (_, i) => `Clerk ${i}`);
    const answers = await Promise.all(personas.map((persona) => install(named("raced", "1.0.0", { persona }))));
    const won = answers.flatMap(({ statusCode }, i) => (statusCode === 201 ? [personas[i]] : []));
    expect(won).toHaveLength(1);
    for (const answer of answers) if (answer.statusCode !== 201) expectError(answer, "pack_conflict");
    expect((await entry(idOf("raced"))).json()).toMatchObject({ persona: won[0] });
  });

  test("of many who install the same at once everybody is served, and it is made once", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => install(named("together"))));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 200, 200, 200, 201]);
  });

  test("what one tenant installs does not exist for another, who may install under the same name", async () => {
    await install(named("private"));
    for (const read of [entry, versions]) {
      const missing = await read(idOf("nowhere"), "other");
      const hidden = await read(idOf("private"), "other");
      expectError(hidden, "not_found");
      expect(hidden.payload.replaceAll("private", "nowhere")).toBe(missing.payload);
    }
    expect(JSON.stringify(await list("other"))).not.toContain("private");
    expect((await install(named("private", "1.0.0", { persona: "Other" }), "other")).statusCode).toBe(201);
    expect((await entry(idOf("private"))).json()).toMatchObject({ persona: "Refunds clerk" });
  });

  test("what a key of a workspace installs is seen there and by those who see all of the tenant", async () => {
    expect((await install(named("east"), "east")).statusCode).toBe(201);
    expectError(await entry(idOf("east"), "west"), "not_found");
    expect((await entry(idOf("east"), "east")).statusCode).toBe(200);
    expect((await versions(idOf("east"))).json().versions).toMatchObject([{ workspace: "east", hostWide: false }]);
    expect((await install(named("east", "1.0.0", { persona: "West" }), "west")).statusCode).toBe(201);
    expect((await entry(idOf("east"), "west")).json()).toMatchObject({ persona: "West" });
    expect((await entry(idOf("east"), "east")).json()).toMatchObject({ persona: "Refunds clerk" });
    await install(named("shared"));
    expect((await entry(idOf("shared"), "east")).statusCode).toBe(200);
    await install(named("shared", "1.0.0", { persona: "Nearer" }), "west");
    expect((await entry(idOf("shared"), "west")).json()).toMatchObject({ persona: "Nearer" });
    expect((await entry(idOf("shared"))).json()).toMatchObject({ persona: "Refunds clerk" });
  });

  test("a signature names the publisher, and counts for his packs and agents alone", async () => {
    const signed = await install(signedPack(named("signed"), acme));
    expect(signed.json()).toMatchObject({ created: true, signedBy: "Acme" });
    expect((await versions(idOf("signed"))).json().versions).toMatchObject([{ signedBy: "Acme", installedBy: "ada" }]);
    const stray = packFiles(
      packManifest({ name: "local.acme.stray", agents: [agentManifest({ agentId: "local.rival.x" })] }),
    );
    expect(expectError(await install(signedPack(stray, acme)), "pack_not_trusted")).toMatchObject({
      problem: "Acme signed it, whose packs and agents do not include local.rival.x",
    });
    const changed = new Map([...signedPack(named("changed"), acme), ["prompts/refunds.md", Buffer.from("Pay.")]]);
    expectError(await install(changed), "pack_not_trusted");
    expectError(await install(signedPack(named("unknown"), testPublisher("Rival"))), "pack_not_trusted");
  });

  test("a pack that needs what is not served is refused, and told what", async () => {
    const manifest = packManifest({
      name: "local.acme.needy",
      peerDependencies: { "agents.liveRuntime": "supported", "host.agentRuntime": "supported" },
    });
    const details = expectError(await install(packFiles(manifest)), "pack_peer_dependency_missing");
    expect(details).toMatchObject({ missing: "host.agentRuntime" });
  });

  test("a pack that is not one is refused with everything that is wrong with it", async () => {
    const bad = packManifest({ version: "x", agents: [agentManifest({ persona: "", systemPromptRef: "none.md" })] });
    const { problems } = expectError(await install(packFiles(bad)), "validation_error");
    expect(problems).toHaveLength(3);
    for (const body of ["", "hello", "{}"]) expectError(await send(Buffer.from(body)), "validation_error");
  });

  test("only who may install does", async () => {
    expectError(await install(named("denied"), "viewer"), "forbidden");
    expectError(await install(named("denied"), "narrow"), "forbidden");
    expectError(await entry(idOf("denied")), "not_found");
    expect((await list("viewer")).total).toBe((await list()).total);
  });
});
