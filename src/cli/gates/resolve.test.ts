import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seedKeys } from "../../engine/identity/seed-keys.ts";
import { GateClient } from "../../testing/gate-host.ts";
import { type TestHost, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";
import { gateText, resumeValue } from "./resolve.ts";

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

const VIEW = {
  runId: "run-1",
  nodeId: "gate",
  interruptId: "int-1",
  kind: "approval",
  key: "k",
  data: { title: "Publish?", artifactData: { text: "[REDACTED]" } },
  requestedAt: "2027-01-01T00:00:00.000Z",
} as const;

test("a gate at a terminal says that parts of it are hidden from voters, and only then", () => {
  expect(gateText({ ...VIEW, hidden: true })).toMatch(
    /^Publish\? .*\nparts of this are kept secret: .*no voter can read it\n/,
  );
  expect(gateText(VIEW)).not.toContain("kept secret");
});

type Flags = Parameters<typeof resumeValue>[1];

const NONE: Flags = {
  reason: undefined,
  feedback: undefined,
  override: false,
  edited: undefined,
  question: undefined,
  answer: [],
  value: undefined,
  voter: undefined,
  revision: undefined,
  artifactDigest: undefined,
};

const made = (action: string | undefined, flags: Partial<Flags> = {}) => resumeValue(action, { ...NONE, ...flags });

describe("what is sent to a gate", () => {
  test.each([
    ["accept", {}, { action: "accept" }],
    ["reject", { reason: "no" }, { action: "reject", reason: "no" }],
    ["accept", { feedback: "fine", voter: "bo" }, { action: "accept", feedback: "fine", voter: "bo" }],
    ["refine", { feedback: "shorter" }, { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } }],
    ["edit-accept", { edited: '{"a":1}' }, { action: "edit-accept", editedArtifactData: { a: 1 } }],
    ["edit-accept", { edited: "null" }, { action: "edit-accept", editedArtifactData: null }],
    ["ask", { question: "Why?" }, { action: "ask", question: "Why?" }],
    ["granted", {}, { decision: "granted" }],
    ["rejected", { reason: "no" }, { decision: "rejected", reason: "no" }],
    ["granted", { override: true, reason: "fire" }, { decision: "granted", reason: "fire", override: true }],
    ["accept", { override: true, reason: "fire" }, { action: "accept", reason: "fire", override: true }],
    ["granted", { value: '{"ticket":7}' }, { ticket: 7, decision: "granted" }],
  ])("for %s with %j is %j", (action, flags, value) => {
    expect(made(action, flags)).toEqual(value);
  });

  test("may hold an artifact from a file", () => {
    const file = join(tempDir(), "edited.json");
    writeFileSync(file, '["from a file"]');
    expect(made("edit-accept", { edited: `@${file}` })).toMatchObject({ editedArtifactData: ["from a file"] });
  });
});

describe("what is sent to anything else", () => {
  test("is the answers by question, or a value of any kind", () => {
    expect(made(undefined, { answer: ["q1=blue", "q2=3"] })).toEqual({ answers: { q1: "blue", q2: 3 } });
    expect(made(undefined, { value: '{"orderId":7}' })).toEqual({ orderId: 7 });
    expect(made(undefined, { value: "null" })).toBeNull();
  });
});

describe("what cannot go together is refused with what to do", () => {
  test.each([
    [undefined, {}, /say what to answer: an action \(accept, .*\), --answer ID=VALUE, or --value JSON/],
    ["acept", {}, /no action acept; use accept/],
    ["dance", {}, /no action dance; use one of accept, reject/],
    ["refine", {}, /refine needs --feedback/],
    ["edit-accept", {}, /edit-accept needs --edited/],
    ["ask", {}, /ask needs --question/],
    ["accept", { edited: "1" }, /--edited goes with edit-accept/],
    ["accept", { question: "?" }, /--question goes with ask/],
    ["accept", { answer: ["a=1"] }, /--answer is for questions/],
    ["accept", { value: "7" }, /--value must be a JSON object/],
    [undefined, { value: "{", reason: undefined }, /--value is not JSON/],
    [undefined, { value: "1", answer: ["a=1"] }, /use one/],
    [undefined, { value: "1", reason: "because" }, /--reason goes with an action/],
    [undefined, { answer: ["a=1"], override: true }, /--override goes with an action/],
    [undefined, { answer: ["blue"] }, /must look like NAME=VALUE/],
  ])("%s with %j", (action, flags, message) => {
    expect(() => made(action, flags)).toThrow(message);
  });
});
