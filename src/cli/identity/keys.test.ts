import { afterAll, beforeAll, expect, test } from "vitest";
import { seedKeys } from "../../engine/identity/seed-keys.ts";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

const OTTO = { key: "key-file-owner-otto", tenant: "t1", principal: "otto", roles: ["owner"] };

let host: TestHost;
let url: string;
beforeAll(async () => {
  host = await testHost();
  await seedKeys(host.host, [OTTO]);
  url = await host.listen();
});
afterAll(() => host.close());

async function assay(key: string, ...argv: string[]) {
  const io = recordedIo();
  const code = await main(argv, { io, env: { ASSAY_URL: url, ASSAY_KEY: key }, cwd: tempDir() });
  return { code, out: io.outLines.join("\n"), err: io.errLines.join("\n") };
}

test("a key with a scope that no role grants is made with a warning", async () => {
  const create = (...flags: string[]) =>
    assay(KEYS.owner.key, "key", "create", "--principal", "ci", "--roles", "viewer", ...flags);
  const warned = await create("--scopes", "runs:read,runs:create");
  expect(warned).toMatchObject({ code: 0, out: expect.stringMatching(/^assay_/) });
  expect(warned.err).toContain("warning: The key cannot use runs:create: not granted by the role of ci (viewer).");
  expect(warned.err).toContain("`assay role list`");
  for (const flags of [["--scopes", "runs:read"], ["--scopes", "*"], []]) {
    expect((await create(...flags)).err).not.toContain("warning");
  }
});

test("a principal is confirmed by an owner that did not make it", async () => {
  expect(await assay(KEYS.owner.key, "key", "create", "--principal", "kim")).toMatchObject({ code: 0 });
  expect((await assay(OTTO.key, "principal", "list")).out).toMatch(/^kim .* ada$/m);
  expect(await assay(KEYS.owner.key, "principal", "confirm", "kim")).toMatchObject({ code: 3 });
  const confirmed = { code: 0, out: "kim: 1 keys count independently of ada" };
  expect(await assay(OTTO.key, "principal", "confirm", "kim")).toMatchObject(confirmed);
  expect((await assay(OTTO.key, "principal", "confirm", "kim")).out).toBe("kim: nothing to confirm");
});
