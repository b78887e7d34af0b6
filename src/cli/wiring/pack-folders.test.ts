import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packArchive } from "../../agents/packs/pack-archive.ts";
import type { PackFiles } from "../../agents/packs/pack-files.ts";
import { versionsOf } from "../../agents/registry/stored-agents.ts";
import { auditSigner } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import { readSuite } from "../../evals/suite/suite-store.ts";
import { HOST_TENANT } from "../../protocol/audit/audit.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { agentManifest, packFiles, packManifest, signedPack, testPublisher, writePack } from "../../testing/packs.ts";
import { evalSuite } from "../../testing/suite-builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { defaultConfig } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { agentServices } from "./agents.ts";
import { buildHost } from "./build-host.ts";
import { httpSettings } from "./listen.ts";
import { checkPackFolders, installEverywhere, packDesk, packTrust } from "./pack-folders.ts";

let host: Host;
let folder: string;

beforeEach(async () => {
  host = await buildHost(await openSqliteStore({ path: ":memory:" }), defaultConfig());
  folder = tempDir();
});
afterEach(() => host.store.close());

async function start(changes: Partial<Config> = {}, folders: readonly string[] = [folder]): Promise<string[]> {
  const config: Config = { ...defaultConfig(), allowUnsigned: true, ...changes };
  const evals = agentServices(host.store, config, host.scrubber);
  const audit = { verifier: await auditSigner(host.store), intervalEntries: 1, intervalSeconds: 1 };
  const desk = packDesk({ host, version: "0", settings: httpSettings(config), audit, evals }, packTrust(config));
  const { packs, skipped } = await checkPackFolders(host, desk, folders);
  const late = await installEverywhere(host, packs);
  return [...skipped, ...late].map(({ file, reason }) => `${file.replace(`${folder}/`, "")}: ${reason}`);
}

const named = (name: string, persona = "Clerk"): PackFiles =>
  packFiles(
    packManifest({
      name: `local.acme.${name}`,
      agents: [agentManifest({ agentId: `local.acme.${name}.agent`, persona, evalSuiteRef: undefined })],
    }),
  );
const seen = async (name: string) =>
  (await versionsOf(host.store, { tenant: "any" }, `local.acme.${name}.agent`)).map(({ persona }) => persona);

describe("the packs of a folder", () => {
  test("are there for every tenant, folders and archives alike, with their suites", async () => {
    writePack(join(folder, "one"), named("one"));
    writeFileSync(join(folder, "two.tar"), packArchive(named("two")));
    writeFileSync(join(folder, "three.tgz"), gzipSync(packArchive(named("three"))));
    writeFileSync(join(folder, "four.tar.gz"), gzipSync(packArchive(packFiles())));
    writeFileSync(join(folder, "notes.txt"), "no pack");
    mkdirSync(join(folder, ".git"));
    expect(await start()).toEqual([]);
    for (const name of ["one", "two", "three"]) expect(await seen(name)).toEqual(["Clerk"]);
    expect((await readSuite(host, "any", "acme.support.evals.refunds")).info).toMatchObject({ hostWide: true });
    const entries = await host.store.readAudit(HOST_TENANT, 0, 100, 100);
    expect(entries.filter((entry) => JSON.stringify(entry).includes("pack.installed"))).toHaveLength(4);
  });

  test("may be one pack, when the folder is it", async () => {
    writePack(folder, named("alone"));
    expect(await start()).toEqual([]);
    expect(await seen("alone")).toEqual(["Clerk"]);
  });

  test("that cannot be installed are named with the reason, and the rest is", async () => {
    writePack(join(folder, "bad"), packFiles(packManifest({ version: "one" })));
    mkdirSync(join(folder, "empty"));
    writeFileSync(join(folder, "broken.tgz"), "hello");
    writePack(
      join(folder, "forged"),
      new Map([...signedPack(named("forged"), testPublisher()), ["x", Buffer.from("")]]),
    );
    writePack(join(folder, "good"), named("good"));
    expect(await start()).toEqual([
      expect.stringMatching(/^bad: pack\.json \/version /),
      expect.stringMatching(/^broken\.tgz: the pack is not an archive that can be read/),
      "empty: the pack has no pack.json",
      expect.stringMatching(/^forged: it is signed with key [0-9a-f]{16}…, which is not among the publisher keys/),
    ]);
    expect(await seen("good")).toEqual(["Clerk"]);
    expect(await seen("forged")).toEqual([]);
  });

  test("that nobody signed stay out unless that is allowed", async () => {
    const acme = testPublisher("Acme");
    const publisherKeys = join(tempDir(), "publishers.json");
    writeFileSync(publisherKeys, JSON.stringify({ publishers: [acme.entry] }));
    writePack(join(folder, "signed"), signedPack(named("signed"), acme));
    writePack(join(folder, "unsigned"), named("unsigned"));
    expect(await start({ publisherKeys, allowUnsigned: false })).toEqual([
      "unsigned: it is not signed, and this host takes unsigned packs only with --allow-unsigned",
    ]);
    expect([await seen("signed"), await seen("unsigned")]).toEqual([["Clerk"], []]);
    expect(await start({ publisherKeys })).toEqual([]);
    expect(await seen("unsigned")).toEqual(["Clerk"]);
  });

  test("change nothing at a second start, and another pack under a name that is taken is left out", async () => {
    writePack(join(folder, "one"), named("one"));
    expect(await start()).toEqual([]);
    expect(await start()).toEqual([]);
    writePack(join(folder, "one"), named("one", "Somebody else"));
    expect(await start()).toEqual([
      "one: Pack local.acme.one@1.0.0 is installed with other content, and what is installed does not change. Raise its version",
    ]);
    expect(await seen("one")).toEqual(["Clerk"]);
  });

  test("that contradict each other or what is there do not stop the start", async () => {
    writePack(join(folder, "a"), named("one"));
    writePack(join(folder, "b"), named("one", "Somebody else"));
    const suite = JSON.stringify({ ...evalSuite(), targetAgentId: "local.acme.x.y" });
    writePack(join(folder, "c"), packFiles());
    const agents = [agentManifest({ agentId: "local.acme.other.agent" })];
    writePack(
      join(folder, "d"),
      packFiles(packManifest({ name: "local.acme.other", agents }), { "evals/refunds.json": suite }),
    );
    expect(await start()).toEqual([
      `b: the pack is local.acme.one@1.0.0, and so is ${join(folder, "a")}`,
      expect.stringMatching(/^d: Suite acme\.support\.evals\.refunds@1\.0\.0 is here with other content/),
    ]);
    expect(await seen("one")).toEqual(["Clerk"]);
    expect(await seen("other")).toEqual([]);
  });

  test("must be in a folder that can be read", async () => {
    await expect(start({}, [join(folder, "none")])).rejects.toMatchObject({ code: "unusable_input" });
  });
});
