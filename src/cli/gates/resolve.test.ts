import { afterAll, beforeAll, expect, test } from "vitest";
import { seedKeys } from "../../engine/identity/seed-keys.ts";
import { GateClient } from "../../testing/gate-host.ts";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

const OTTO = { key: "key-file-owner-otto", tenant: "t1", principal: "otto", roles: ["owner"] };
const VERA = { key: "key-file-reviewer-vera", tenant: "t1", principal: "vera", roles: ["reviewer"] };
const RESPONDER = { key: "key-file-of-a-responder", tenant: "t1", principal: "rita", roles: ["owner"] };

let host: TestHost;
let gates: GateClient;
let url: string;
beforeAll(async () => {
  host = await testHost({ worker: true });
  await seedKeys(host.host, [OTTO, VERA, { ...RESPONDER, scopes: ["approvals:respond"] }]);
  gates = new GateClient(host);
  url = await host.listen();
  const artifactData = { to: "the team" };
  const actions = ["accept", "reject", "edit-accept"];
  await gates.register("edited", "core.approvalGate", { actions, requiredApprovals: 2, artifactData });
  await gates.register("plain", "core.approvalGate", { artifactData });
});
afterAll(() => host.close());

async function assay(key: string, ...argv: string[]) {
  const io = { ...recordedIo(), errIsTerminal: true };
  const code = await main(argv, { io, env: { ASSAY_URL: url, ASSAY_KEY: key }, cwd: tempDir() });
  return { code, out: io.outLines.join("\n"), err: io.errLines.join("\n") };
}
const EDIT = ["edit-accept", "--edited", '{"to":"the press"}'];

test("a vote on the command line is for the artifact that was shown", async () => {
  const runId = await gates.waiting("edited");
  expect(await assay(VERA.key, "resolve", runId, "gate", ...EDIT)).toMatchObject({ code: 0 });
  const { interruptId } = await gates.interrupt(runId);
  const vote = await assay(OTTO.key, "resolve", interruptId, "accept");
  expect(vote).toMatchObject({ code: 0, out: `${interruptId} granted` });
  expect(vote.err).toContain("(revision 1, ");
  expect(vote.err).toContain('"to": "the press"');
});

test("a vote on the command line for what was read before is refused when that has changed", async () => {
  const runId = await gates.waiting("edited");
  const { revision = -1, artifactDigest = "" } = (await gates.snapshot(runId)).interrupt ?? {};
  await assay(VERA.key, "resolve", runId, "gate", ...EDIT);
  const read = ["--revision", String(revision), "--artifact-digest", artifactDigest];
  const late = await assay(OTTO.key, "resolve", runId, "gate", "accept", ...read);
  expect(late).toMatchObject({ code: 1, err: expect.stringContaining("revision is 1 now, not 0") });
});

test("a key that may answer and not read still votes where nothing can have changed", async () => {
  const runId = await gates.waiting("plain");
  expect(await assay(RESPONDER.key, "resolve", runId, "gate", "accept")).toMatchObject({ code: 0 });
});

test("a principal is confirmed by an owner that did not make it", async () => {
  expect(await assay(KEYS.owner.key, "key", "create", "--principal", "kim")).toMatchObject({ code: 0 });
  expect((await assay(OTTO.key, "principal", "list")).out).toMatch(/^kim .* ada$/m);
  expect(await assay(KEYS.owner.key, "principal", "confirm", "kim")).toMatchObject({ code: 3 });
  const confirmed = { code: 0, out: "kim: 1 keys count beside ada" };
  expect(await assay(OTTO.key, "principal", "confirm", "kim")).toMatchObject(confirmed);
  expect((await assay(OTTO.key, "principal", "confirm", "kim")).out).toBe("kim: nothing to confirm");
});
