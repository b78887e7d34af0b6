import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflow } from "../../src/testing/workflow.ts";
import { workflowFolder } from "./assay.ts";
import { assay, type Ended, type Running, type Server, serve, start } from "./in-process.ts";

const gated = (id: string, typeId: string, config: Record<string, unknown>) =>
  workflow({ id, nodes: { gate: { typeId, config }, after: "core.noop" }, edges: ["gate>after"] });

const GATES = {
  "ship.json": gated("ship", "core.approvalGate", { title: "Ship it?", timeoutSec: 7200 }),
  "two.json": gated("two", "core.approvalGate", {
    title: "Both of you?",
    requiredApprovals: 2,
    actions: ["accept", "reject", "refine", "edit-accept", "ask"],
  }),
  "governed.json": gated("governed", "core.openwop.governance.approvalGate", {
    requiredRole: "reviewer",
    quorum: 2,
    override: { requiredRole: "owner" },
    overrideBypassesQuorum: true,
  }),
  "asks.json": gated("asks", "core.clarificationGate", { questions: [{ id: "colour", question: "Which colour?" }] }),
  "custom.json": gated("custom", "core.interrupt", { kind: "custom", data: { customKind: "handover" } }),
};

const KEYS = {
  owner: "key-of-the-owner-of-all",
  ana: "key-of-ana-the-reviewer",
  ben: "key-of-ben-the-reviewer",
  vic: "key-of-vic-the-viewer",
};

let server: Server;
beforeAll(async () => {
  const file = join(tempDir(), "keys.json");
  const roles = { owner: "owner", ana: "reviewer", ben: "reviewer", vic: "viewer" };
  const entries = Object.entries(roles).map(([principal, role]) => {
    return { key: KEYS[principal as keyof typeof KEYS], tenant: "t1", principal, roles: [role] };
  });
  writeFileSync(file, JSON.stringify(entries));
  server = await serve(["--data", tempDir(), "--keys", file, "--workflows", workflowFolder(GATES)], {
    key: KEYS.owner,
  });
});

function environment(who: keyof typeof KEYS): Record<string, string> {
  return { ASSAY_URL: server.url, ASSAY_KEY: KEYS[who] };
}

function as(who: keyof typeof KEYS, ...args: string[]): Promise<Ended> {
  return assay(args, { env: environment(who) });
}

/** A run whose gate is open. */
async function waiting(workflowId: string): Promise<{ runId: string; interruptId: string }> {
  const runId = (await server.client("run", "start", workflowId)).stdout.trim();
  for (;;) {
    const shown = JSON.parse((await server.client("run", "show", runId, "--json")).stdout);
    if (shown.interrupt) return { runId, interruptId: shown.interrupt.interruptId };
  }
}

async function statusOf(runId: string): Promise<string> {
  await server.client("run", "watch", runId);
  return JSON.parse((await server.client("run", "show", runId, "--json")).stdout).status;
}

describe("the inbox", () => {
  test("is a table for people and JSON for programs, of what the caller may decide", async () => {
    expect(await as("ana", "inbox", "--workflow", "ship")).toEqual({
      code: 0,
      stdout: "",
      stderr: "Nothing waits for you.\n",
    });
    const { interruptId, runId } = await waiting("ship");
    const { code, stdout } = await as("ana", "inbox", "--workflow", "ship");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^AGE +DEADLINE +WORKFLOW +TITLE +WAITS FOR +INTERRUPT\n/);
    expect(stdout).toMatch(/\n\d+ s +in /);
    expect(stdout).toMatch(new RegExp(`in 1h 59m +ship +Ship it\\? +approval 0/1 +${interruptId}\n$`));
    const { items } = JSON.parse(
      (await as("ana", "inbox", "--workflow", "ship", "--kind", "approval", "--json")).stdout,
    );
    expect(items).toMatchObject([{ interruptId, runId, title: "Ship it?", mine: null }]);
    expect((await as("ana", "inbox", "--workflow", "ship", "--kind", "custom")).stdout).toBe("");
    expect(await as("ana", "inbox", "--kind", "letters")).toMatchObject({ code: 2, stdout: "" });
    expect(await as("vic", "inbox")).toMatchObject({ code: 3, stderr: expect.stringContaining("approvals:respond") });
    await as("ana", "resolve", interruptId, "accept");
  });

  test("is watched as it changes", async () => {
    const before = await waiting("two");
    const watching: Running = start(["inbox", "--watch", "--workflow", "two"], { env: environment("ana") });
    await watching.until((text) => text.includes(`opened   ${before.interruptId}  two  approval 0/2  Both of you?`));
    const programs = start(["inbox", "--watch", "--workflow", "two", "--json"], { env: environment("ben") });
    await programs.until((text) => text.includes(before.interruptId));
    await as("ana", "resolve", before.interruptId, "accept");
    await watching.until((text) => text.includes(`updated  ${before.interruptId}  two  approval 1/2, yours: accept`));
    await as("ben", "resolve", before.interruptId, "accept");
    await watching.until((text) => text.includes(`closed   ${before.interruptId}  granted`));
    await programs.until((text) => text.includes("inbox.closed"));
    const events = programs.stdout().trim().split("\n");
    expect(events.map((line) => JSON.parse(line).event)).toEqual(["inbox.opened", "inbox.updated", "inbox.closed"]);
    for (const running of [watching, programs]) expect(await running.stop()).toBe(0);
  });
});

describe("resolve", () => {
  test("decides by the id of the interrupt, or by run and node", async () => {
    const [one, two] = [await waiting("ship"), await waiting("ship")];
    const granted = await as("ana", "resolve", one.interruptId, "accept", "--reason", "green");
    expect(granted).toMatchObject({ code: 0, stdout: `${one.interruptId} granted\n`, stderr: "" });
    expect(await statusOf(one.runId)).toBe("completed");
    const rejected = await as("ana", "resolve", two.runId, "gate", "reject", "--json");
    expect(rejected.code).toBe(0);
    expect(JSON.parse(rejected.stdout)).toMatchObject({ ...two, nodeId: "gate", resolved: true, outcome: "rejected" });
    expect(await statusOf(two.runId)).toBe("failed");
  });

  test("takes questions, refinements and edits to a gate that offers them", async () => {
    const { interruptId, runId } = await waiting("two");
    expect(await as("ana", "resolve", interruptId, "ask", "--question", "Why now?")).toMatchObject({
      code: 0,
      stdout: `${interruptId} open 0/2\n`,
    });
    expect(await as("ana", "resolve", interruptId, "edit-accept", "--edited", '{"text":"better"}')).toMatchObject({
      stdout: `${interruptId} open 1/2\n`,
    });
    expect(await as("ben", "resolve", runId, "gate", "refine", "--feedback", "shorter")).toMatchObject({
      stdout: `${interruptId} refined\n`,
    });
  });

  test("overrides a governed gate with a reason", async () => {
    const { interruptId, runId } = await waiting("governed");
    expect(await as("ana", "resolve", interruptId, "granted")).toMatchObject({ stdout: `${interruptId} open 1/2\n` });
    expect(await as("ana", "resolve", interruptId, "rejected")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("a vote here stands"),
    });
    expect(await as("ana", "resolve", interruptId, "granted", "--override", "--reason", "x")).toMatchObject({
      code: 3,
    });
    expect(await as("owner", "resolve", interruptId, "accept", "--override")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("an override needs a reason"),
    });
    const args = ["resolve", interruptId, "granted", "--override", "--reason", "it burns"];
    expect(await as("owner", ...args)).toMatchObject({ code: 0, stdout: `${interruptId} granted\n` });
    expect(await statusOf(runId)).toBe("completed");
  });

  test("answers questions, and hands over values", async () => {
    const question = await waiting("asks");
    expect(await as("ana", "resolve", question.interruptId, "--answer", "colour=blue")).toMatchObject({ code: 0 });
    expect(await statusOf(question.runId)).toBe("completed");
    const custom = await waiting("custom");
    expect(await as("ana", "resolve", custom.runId, "gate", "--value", '{"to":"bo"}')).toMatchObject({ code: 0 });
    expect(await statusOf(custom.runId)).toBe("completed");
  });

  test("tells by its exit code what is wrong, and what to do", async () => {
    const { interruptId, runId } = await waiting("ship");
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await as("ana", "resolve", ...args);
      expect(stdout).toBe("");
      return [code, stderr];
    };
    expect(await refused(interruptId)).toEqual([2, expect.stringContaining("say what to answer")]);
    expect(await refused(interruptId, "gate", "accept")).toEqual([2, expect.stringContaining("leave out the node")]);
    expect(await refused(runId)).toEqual([2, expect.stringContaining("name its node as well")]);
    expect(await refused(interruptId, "acept")).toEqual([2, expect.stringContaining("use accept")]);
    expect(await refused(interruptId, "refine", "--feedback", "x")).toEqual([
      2,
      expect.stringContaining("accept, reject"),
    ]);
    expect(await refused("int-unknown", "accept")).toEqual([2, expect.stringContaining("assay inbox")]);
    expect(await refused(runId, "nowhere", "accept")).toEqual([2, expect.stringContaining("assay inbox")]);
    expect(await as("vic", "resolve", interruptId, "accept")).toMatchObject({ code: 3 });
    expect(await as("ana", "resolve", interruptId, "accept")).toMatchObject({ code: 0 });
    expect(await refused(interruptId, "accept")).toEqual([1, expect.stringContaining("resolved before")]);
    const [code, json] = await refused(runId, "gate", "accept", "--json");
    expect([code, JSON.parse(String(json)).error]).toEqual([1, "interrupt_already_resolved"]);
  });
});

describe("gates summary", () => {
  test("is a table with a total, grouped as asked", async () => {
    const { runId } = await waiting("ship");
    await as("ana", "resolve", runId, "gate", "accept");
    const { code, stdout } = await as("vic", "gates", "summary", "--by", "principal", "--from", "7d");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^GATES +OPENED +DECIDED +REJECTED +TIMED OUT +OVERRIDDEN +MEDIAN +P95 +UNDER 10 S\n/);
    expect(stdout).toMatch(/\nana +\d+ +\d+ /);
    expect(stdout).toMatch(/\nall +\d+ +\d+ .*\n$/);
    const summary = JSON.parse((await as("vic", "gates", "summary", "--workflow", "ship", "--json")).stdout);
    expect(summary).toMatchObject({ total: { decided: expect.any(Number) }, groups: [] });
    expect(summary.total.decided).toBeGreaterThan(0);
    expect((await as("vic", "gates", "summary", "--to", "2020-01-31")).stdout).toMatch(
      /\nall +0 +0 +0 +0 +0 +- +- +0\n$/,
    );
    expect(await as("vic", "gates", "summary", "--from", "lately")).toMatchObject({ code: 2, stdout: "" });
  });
});
