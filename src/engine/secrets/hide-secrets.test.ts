import { expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { MASK } from "../../protocol/events.ts";
import { SECRETS_MAX } from "../../protocol/runs/sensitive.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { calls, expectSound, familyOf } from "../../testing/family.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { receivedAnswer } from "../gates/seal-answer.ts";
import { forkRun } from "../runs/fork-run.ts";
import { snapshot } from "../runs/read-run.ts";
import { partsTaken } from "./hide-secrets.ts";

const bench = workbench();
const KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
const OTHER = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const WORD = "pass-word";

/** A run of a workflow whose author thought of no secrets, and that says what it is given once more; its child does too. */
async function started(inputs: Record<string, unknown>, more: object = {}) {
  const host = engineOn(bench.store);
  const says = {
    typeId: "core.identity",
    inputs: { text: { type: "expression" as const, expression: `"it is " + string(variables.note)` } },
  };
  await register(host, workflow({ id: "child", nodes: { say: says } }));
  const mapping = { inputMapping: { note: "note" } };
  await register(host, workflow({ id: "parent", nodes: { say: says, call: calls("child", mapping) } }));
  bench.work(host);
  const runId = await begin(host, { workflowId: "parent", inputs, ...more });
  const run = await until(bench.store, runId, ended);
  return { host, run };
}

async function shown({ host, run }: Awaited<ReturnType<typeof started>>): Promise<string> {
  await expectSound(bench.store, run.runId);
  const family = await familyOf(bench.store, run.runId);
  const parts = family.map(async (one) => [await logOf(bench.store, one.runId), await snapshot(host, one)]);
  return JSON.stringify(await Promise.all(parts));
}

test("what looks like a secret in what a run is given reaches its nodes and nobody else", async () => {
  const made = await started(
    { note: `use ${KEY} for it`, whole: OTHER, deep: { list: [`https://me:${WORD}@example.org/`] }, plain: "word" },
    { metadata: { token: KEY }, tags: [OTHER], configurable: { custom: KEY } },
  );
  expect(made.run).toMatchObject({
    status: "completed",
    variables: { note: `use ${KEY} for it`, whole: OTHER, text: `it is use ${KEY} for it` },
  });
  const text = await shown(made);
  for (const secret of [KEY, OTHER, WORD]) expect(text).not.toContain(secret);
  expect(text).toContain(`use ${MASK} for it`);
  expect(text).toContain(`it is use ${MASK} for it`);
  expect(text).toContain('"plain":"word"');
});

test("a run that is given nothing of the kind is shown as it is", async () => {
  const text = await shown(await started({ note: "an ordinary note" }));
  expect(text).toContain("it is an ordinary note");
  expect(text).not.toContain(MASK);
});

test("so does what a branch is given", async () => {
  const { host, run } = await started({ note: "an ordinary note" });
  const request = { mode: "branch" as const, fromSeq: 1, runOptionsOverlay: { inputs: { note: `now ${KEY}` } } };
  const { runId } = await forkRun(host, { caller: ADA, runId: run.runId, request, record: () => undefined });
  const branch = await until(bench.store, runId, ended);
  expect(branch.variables).toMatchObject({ text: `it is now ${KEY}` });
  expect(await shown({ host, run: branch })).not.toContain(KEY);
});

test("a secret that is too short to be masked by its value is masked by the name of its input", async () => {
  const made = await started({ note: "an ordinary note", password: "Q7!", deep: { token: "Z8!", title: "weekly" } });
  expect(made.run.variables).toMatchObject({ password: "Q7!", deep: { token: "Z8!", title: "weekly" } });
  expect(await shown(made)).not.toMatch(/Q7!|Z8!/);
  const request = {
    mode: "branch" as const,
    fromSeq: 1,
    runOptionsOverlay: { inputs: { token: "Y6!" } },
  };
  const { host, run } = made;
  const { runId } = await forkRun(host, { caller: ADA, runId: run.runId, request, record: () => undefined });
  const branch = await until(bench.store, runId, ended);
  expect(branch.variables).toMatchObject({ token: "Y6!", password: "Q7!" });
  expect(await shown({ host, run: branch })).not.toMatch(/Q7!|Z8!|Y6!/);
});

test("a secret in a name of what a run, its child or a branch is given is shown nowhere", async () => {
  const named = { [KEY]: "v", "password=windmill42x": 1, "token=kettle7": 2, "api_key: lanternfish99": 3 };
  const made = await started({ note: "an ordinary note", ...named, deep: { [OTHER]: [named] } }, { metadata: named });
  const text = await shown(made);
  const runOptionsOverlay = { inputs: { [OTHER]: "w", [KEY]: "x" } };
  const request = { mode: "branch" as const, fromSeq: 1, runOptionsOverlay };
  const { host, run } = made;
  const { runId } = await forkRun(host, { caller: ADA, runId: run.runId, request, record: () => undefined });
  const branch = await until(bench.store, runId, ended);
  expect(branch.variables).toMatchObject({ [OTHER]: "w", [KEY]: "x", deep: { [OTHER]: [named] } });
  const texts = [text, await shown({ host, run: branch })];
  const secrets = [KEY, OTHER, "windmill42x", "kettle7", "lanternfish99"];
  for (const secret of secrets) for (const one of texts) expect(one).not.toContain(secret);
});

test("a key in the callback URL of a run is kept for its deliveries, and those of its child, and shown nowhere", async () => {
  const callbackUrl = "https://hooks.example.com/assay?token=tulipfield7";
  const made = await started({ note: "an ordinary note" }, { callbackUrl });
  const family = await familyOf(bench.store, made.run.runId);
  expect(family.map((one) => one.callbackUrl)).toEqual([callbackUrl, callbackUrl]);
  const text = await shown(made);
  expect(text).not.toContain("tulipfield7");
  expect(text).toContain(`https://hooks.example.com/assay?token=${MASK}`);
});

test("a run is neither started nor branched with more secrets than it may hold", async () => {
  const many = { note: "an ordinary note", password: Array.from({ length: SECRETS_MAX + 1 }, (_, i) => `secret-${i}`) };
  await expect(started(many)).rejects.toMatchObject({ code: "validation_error" });
  const { host, run } = await started({ note: "an ordinary note" });
  const request = { mode: "branch" as const, fromSeq: 1, runOptionsOverlay: { inputs: many } };
  const branch = forkRun(host, { caller: ADA, runId: run.runId, request, record: () => undefined });
  await expect(branch).rejects.toMatchObject({ code: "validation_error" });
});

test("an answer with more secrets than a run may hold is refused", async () => {
  const tokens = Array.from({ length: SECRETS_MAX + 1 }, (_, i) => `secret-${i}`);
  const received = (count: number) => receivedAnswer(scrubber(), { token: tokens.slice(0, count) });
  await expect(received(SECRETS_MAX + 1)).rejects.toMatchObject({ code: "validation_error" });
  expect((await received(SECRETS_MAX)).secrets).toHaveLength(SECRETS_MAX);
});

test("what stands between two secrets is found in time proportional to the text, however periodic it is", () => {
  const lines = (count: number) => "A\n".repeat(count);
  const key = `-----BEGIN PRIVATE KEY-----\n${lines(200_000)}-----END PRIVATE KEY-----`;
  const between = `\n${lines(50_000)}B\n${lines(50_000)}`;
  const before = process.cpuUsage();
  expect(partsTaken(`${key}${between}${OTHER}\n`, `${MASK}${between}${MASK}\n`)).toEqual([key, OTHER]);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1500);
});
