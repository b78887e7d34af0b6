import { beforeEach, expect, test } from "vitest";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Document } from "../../store/port/documents.ts";
import { HOST_WIDE, type Store } from "../../store/port/store.ts";
import { agentsOn } from "../../testing/agents-on.ts";
import { agentOf } from "../../testing/eval-bench.ts";
import { workbench } from "../../testing/workbench.ts";
import { versionFor } from "../resolve-agent.ts";
import { agentVersions, inventoryEntry } from "./inventory.ts";
import { type AgentRecord, keyIn, type Place, versionsOf } from "./stored-agents.ts";

const bench = workbench();
const AGENT = "local.acme.many";
const T1 = { tenant: "t1" };
const PROMPT = "word ".repeat(10_000);
const installation = { packSha256: "0", installedBy: "ada", installedAt: "2026-01-01T00:00:00Z" };

async function install(version: string, place: Place): Promise<void> {
  const persona = [place.tenant, ...(place.workspace === undefined ? [] : [place.workspace])].join("/");
  const agent = agentOf({ agentId: AGENT, version, persona, systemPrompt: PROMPT });
  const body = JSON.stringify({ agent, installation } satisfies AgentRecord);
  const document: Document = { ...place, kind: "agent", key: keyIn(AGENT, version, place), revision: 1, atMs: 0, body };
  const committed = await bench.store.commit({ tenant: place.tenant, documents: [{ type: "put", document }] });
  expect(committed).toMatchObject({ ok: true });
}

/** The store, and the number of agents that were read from it. */
function counting(): { readonly store: Store; readonly agents: () => number } {
  let agents = 0;
  const count = (found: readonly Document[]) => {
    agents += found.filter(({ kind }) => kind === "agent").length;
  };
  const store: Store = {
    ...bench.store,
    readDocument: async (id) => {
      const found = await bench.store.readDocument(id);
      count(found === undefined ? [] : [found]);
      return found;
    },
    readDocuments: async (...given) => {
      const found = await bench.store.readDocuments(...given);
      count(found);
      return found;
    },
    listDocuments: async (...given) => {
      const found = await bench.store.listDocuments(...given);
      count(found);
      return found;
    },
  };
  return { store, agents: () => agents };
}

beforeEach(async () => {
  for (let i = 1; i <= 12; i++) await install(`1.0.${i}`, T1);
});

test("of an agent with many versions a run, a request and an inventory read the one they use", async () => {
  const { store, agents } = counting();
  const known = agentsOn(store);
  expect(await versionFor(known, T1, { agentId: AGENT })).toMatchObject({ version: "1.0.12" });
  expect(await versionFor(known, T1, { agentId: AGENT, version: "1.0.3" })).toMatchObject({ version: "1.0.3" });
  expect(await versionFor(known, T1, { agentId: AGENT, version: "9.0.0" })).toBeUndefined();
  expect(await inventoryEntry({ store, agents: known, serves: () => true }, T1, AGENT)).toMatchObject({
    packVersion: "1.0.12",
  });
  expect(agents()).toBe(3);
});

test("versions are listed without their prompts", async () => {
  const { versions } = await agentVersions(
    { store: bench.store, agents: agentsOn(bench.store), serves: () => true },
    T1,
    AGENT,
  );
  expect(versions.map(({ version }) => version).slice(0, 3)).toEqual(["1.0.12", "1.0.11", "1.0.10"]);
  const listed = await versionsOf(bench.store, T1, AGENT, { texts: false });
  expect(listed).toHaveLength(12);
  expect(JSON.stringify(listed)).not.toContain("word word");
});

test("of one version the nearest is used: of the workspace, the tenant, the host", async () => {
  await install("1.0.2", { tenant: "t1", workspace: "w" });
  await install("1.0.2", { tenant: HOST_WIDE });
  await install("2.0.0", { tenant: HOST_WIDE });
  await install("3.0.0", { tenant: "t1", workspace: "v" });
  const persona = async (visible: Visibility, wanted: { version: string } | { highest: true }) =>
    (await versionsOf(bench.store, visible, AGENT, wanted)).map((one) => one.persona);
  expect(await persona({ tenant: "t1", workspace: "w" }, { version: "1.0.2" })).toEqual(["t1/w"]);
  expect(await persona(T1, { version: "1.0.2" })).toEqual(["t1"]);
  expect(await persona({ tenant: "t2" }, { version: "1.0.2" })).toEqual([HOST_WIDE]);
  expect(await persona({ tenant: "t1", workspace: "w" }, { highest: true })).toEqual([HOST_WIDE]);
  expect(await persona({ tenant: "t1", workspace: "v" }, { highest: true })).toEqual(["t1/v"]);
  expect(await persona(T1, { version: "3.0.0" })).toEqual([]);
});
