import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { agentManifest, packFiles, packManifest, testPublisher, writePack } from "../../testing/packs.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

async function assay(argv: readonly string[], env: Record<string, string> = {}) {
  const io = recordedIo();
  const code = await main(["agent", ...argv], { io, env, cwd: tempDir() });
  return { code, out: io.outText(), err: io.errLines.join("\n") };
}

const acme = testPublisher("Acme");
const keyFile = (pem = acme.privateKey) => {
  const path = join(tempDir(), "publisher.pem");
  writeFileSync(path, pem);
  return path;
};
const pack = (manifest?: unknown, more?: Parameters<typeof packFiles>[1]) =>
  writePack(tempDir(), packFiles(manifest, more));

describe("assay agent validate", () => {
  test("lists the contents of a valid pack", async () => {
    const folder = pack();
    expect(await assay(["validate", folder])).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^✓ .*: local\.acme\.support@1\.0\.0, 1 agent, 1 suite, not signed, sha256 [0-9a-f]{12}\n$/,
      ),
    });
  });

  test("lists every problem of every pack, and exits 2", async () => {
    const folder = pack(packManifest({ agents: [agentManifest({ persona: "" })] }), { "schemas/task.json": "{" });
    const nowhere = join(tempDir(), "nowhere");
    const { code, out } = await assay(["validate", folder, nowhere, pack()]);
    expect(code).toBe(2);
    expect(out.replaceAll(folder, "bad").replaceAll(nowhere, "nowhere").trim().split("\n")).toEqual([
      expect.stringMatching(/^bad: error: pack\.json \/agents\/0\/persona /),
      "bad: error: schemas/task.json is not JSON.",
      "✗ bad: 2 problems",
      "nowhere: error: the pack cannot be read: ENOENT.",
      "✗ nowhere: 1 problem",
      expect.stringMatching(/^✓ /),
    ]);
    const json = JSON.parse((await assay(["validate", "--json", folder])).out);
    expect(json).toMatchObject({ ok: false, packs: [{ ok: false, problems: [{ file: "pack.json" }, { path: "" }] }] });
  });
});

describe("assay agent sign", () => {
  test("writes the same signature again and changes nothing else", async () => {
    const folder = pack();
    const before = JSON.parse((await assay(["validate", "--json", folder])).out).packs[0].sha256;
    expect(await assay(["sign", folder, "--key", keyFile()])).toMatchObject({ code: 0 });
    const signature = readFileSync(join(folder, "pack.files.sig"), "utf8");
    expect(await assay(["sign", "--json", folder, "--key", keyFile()])).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "pack.files.sig"), "utf8")).toBe(signature);
    const [after] = JSON.parse((await assay(["validate", "--json", folder])).out).packs;
    expect(after).toMatchObject({ signed: true, sha256: before });
  });

  test("refuses an invalid pack, and a file that is no key", async () => {
    const bad = pack(packManifest({ version: "x" }));
    expect(await assay(["sign", bad, "--key", keyFile()])).toMatchObject({ code: 2 });
    const good = pack();
    for (const argv of [[], ["--key", keyFile("hunter2")], ["--key", join(good, "none.pem")]]) {
      const { code, err } = await assay(["sign", good, ...argv]);
      expect(code).toBe(2);
      expect(err).not.toContain("hunter2");
    }
    expect((await assay(["sign", good])).err).toContain("--key names the key to sign with");
    expect([bad, good].some((folder) => existsSync(join(folder, "pack.files.sig")))).toBe(false);
  });
});

describe("against a server", () => {
  let host: TestHost;
  let env: Record<string, string>;
  const as = (who: keyof typeof KEYS) => ({ ...env, ASSAY_KEY: KEYS[who].key });
  beforeAll(async () => {
    host = await testHost({ deps: { trust: { publishers: [acme.publisher], allowUnsigned: false } } });
    env = { ASSAY_URL: await host.listen(), ASSAY_KEY: KEYS.owner.key };
  });
  afterAll(() => host.close());

  test("an empty list names the command that installs a pack", async () => {
    const { code, out, err } = await assay(["list"], env);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toMatch(/assay agent install PACK/);
    expect((await assay(["list", "--json"], env)).out).toBe('{"agents":[],"total":0}\n');
  });

  test("a pack that is not signed is refused with exit code 3", async () => {
    const { code, err } = await assay(["install", pack()], env);
    expect(code).toBe(3);
    expect(err).toMatch(/not signed.*--allow-unsigned/);
  });

  test("a signed pack is installed, and can be listed and shown", async () => {
    const folder = pack();
    await assay(["sign", folder, "--key", keyFile()]);
    const installed = await assay(["install", folder], env);
    expect(installed).toMatchObject({
      code: 0,
      out: [
        "Installed local.acme.support@1.0.0, signed by Acme",
        "  agent local.acme.support.refunds",
        "  suite acme.support.evals.refunds@1.0.0",
        "",
      ].join("\n"),
    });
    expect((await assay(["install", folder], env)).out).toMatch(/^Unchanged: local\.acme\.support@1\.0\.0/);
    expect((await assay(["list"], env)).out).toMatch(/local\.acme\.support\.refunds +1\.0\.0 +Refunds clerk/);
    for (const command of [["show"], ["deployments"], ["deploy", "--pause"]]) {
      const [verb = "", ...flags] = command;
      const version = verb === "deploy" ? ["1.0.0"] : [];
      const typo = await assay([verb, "local.acme.support.refund", ...version, ...flags], env);
      expect(typo).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean local.acme.support.refunds?") });
    }
    const shown = await assay(["show", "local.acme.support.refunds"], env);
    expect(shown.out).toMatch(/pack +local\.acme\.support@1\.0\.0/);
    expect(shown.out).toMatch(/1\.0\.0 +installed +no +tenant +Acme +acme\.support\.evals\.refunds@1\.0\.0/);
    const json = JSON.parse((await assay(["show", "--json", "local.acme.support.refunds"], env)).out);
    expect(json).toMatchObject({ agent: { packVersion: "1.0.0" }, versions: [{ signedBy: "Acme" }] });
  });

  test("each refusal has its exit code", async () => {
    expect(await assay(["show", "local.acme.none.here"], env)).toMatchObject({ code: 2 });
    expect(await assay(["install", pack()], as("viewer"))).toMatchObject({ code: 3 });
    expect(await assay(["list"], as("other"))).toMatchObject({ code: 0, out: "" });
    const bad = pack(packManifest({ version: "x", agents: [agentManifest({ persona: "" })] }));
    const { code, err } = await assay(["install", bad], env);
    expect(code).toBe(3);
    expect(err).not.toMatch(/persona/);
    const gone = await assay(["list"], { ...env, ASSAY_URL: "http://127.0.0.1:9" });
    expect(gone.code).toBe(4);
  });
});
