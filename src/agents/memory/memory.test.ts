import { describe, expect, test } from "vitest";
import { MemoryEntry } from "../../protocol/agents/api.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import { matches } from "../../protocol/schema.ts";
import { idIn } from "../../store/port/documents.ts";
import { agentHost } from "../../testing/agent-nodes.ts";
import { ADA, begin, engineOn, KNOWN_SECRET, logOf, register, until } from "../../testing/engine.ts";
import { AGENT_ID, agentOf, agentsOf, type Behaviour } from "../../testing/eval-bench.ts";
import { upTo } from "../../testing/store-contract/subject.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { AgentTask } from "../binding.ts";
import { givenWithTask } from "./agent-memory.ts";
import {
  type ListOptions,
  type MemoryAdapter,
  type MemoryChange,
  type MemorySettings,
  memoryAdapter,
  redactor,
} from "./memory-adapter.ts";
import type { MemoryScope } from "./memory-document.ts";

const bench = workbench();
const HERE: MemoryScope = { tenant: "t1", memoryRef: "notes" };
const NAMED = { id: "API_KEY", value: "pa55-phrase-of-the-house" };

/** With a clock that the test sets. */
function remembering(settings?: Partial<MemorySettings>) {
  const { store, scrubber, newId } = engineOn(bench.store);
  const clock = { nowMs: Date.parse("2026-01-01T00:00:00Z") };
  const redact = redactor([NAMED], scrubber);
  const memory = memoryAdapter({ store, redact, nowMs: () => clock.nowMs, newId }, settings);
  const write = async (change: MemoryChange | undefined) => {
    if (change === undefined) return undefined;
    const { tenant } = idIn(change.write);
    expect(await store.commit({ tenant, documents: [change.write] })).toMatchObject({ ok: true });
    return change.memoryId;
  };
  const put = async (content: string, more: object = {}, scope = HERE, runId?: string) =>
    (await write(await memory.put(scope, { content, ...more }, runId))) as string;
  return { memory, clock, put, forget: async (id: string) => write(await memory.delete(HERE, id)) };
}

const contents = async (memory: MemoryAdapter, ...asked: Parameters<MemoryAdapter["list"]>) =>
  (await memory.list(...asked)).map(({ content }) => content);

describe("a memory", () => {
  test("gives back what was put into it, the newest first", async () => {
    const { memory, clock, put } = remembering();
    await put("one", { tags: ["a", ""] });
    clock.nowMs += 1000;
    const id = await put("two", { tags: ["a", "b"] });
    expect(await contents(memory, HERE)).toEqual(["two", "one"]);
    expect(await contents(memory, HERE, { tag: "b" })).toEqual(["two"]);
    expect(await contents(memory, HERE, { limit: 1 })).toEqual(["two"]);
    expect(await contents(memory, HERE, { limit: 0 })).toHaveLength(2);
    const entry = await memory.get(HERE, id);
    expect(matches(MemoryEntry, entry)).toBe(true);
    expect(entry).toEqual({ id, content: "two", tags: ["a", "b"], createdAt: "2026-01-01T00:00:01.000Z" });
    expect(await memory.get(HERE, "mem-unknown")).toBeNull();
  });

  test("is of one tenant, one workspace and one reference", async () => {
    const { memory, put } = remembering();
    await put("mine", { id: "x" });
    for (const scope of [
      { ...HERE, tenant: "t2" },
      { ...HERE, workspace: "east" },
      { ...HERE, memoryRef: "notes/x" },
      { ...HERE, memoryRef: "t1/notes" },
    ]) {
      expect(await memory.list(scope)).toEqual([]);
      expect(await memory.get(scope, "x")).toBeNull();
      expect(await memory.delete(scope, "x")).toBeUndefined();
    }
    expect(await contents(memory, HERE)).toEqual(["mine"]);
  });

  test("forgets what is over, to the moment", async () => {
    const { memory, clock, put } = remembering();
    await put("gone already", { expiresAt: "2025-12-31T23:59:59Z" });
    const id = await put("for a minute", { expiresAt: "2026-01-01T00:01:00Z" });
    clock.nowMs += 59_999;
    expect(await contents(memory, HERE)).toEqual(["for a minute"]);
    clock.nowMs += 1;
    expect(await memory.list(HERE)).toEqual([]);
    expect(await memory.get(HERE, id)).toBeNull();
  });

  test("is for a run what it was when the run began", async () => {
    const { memory, clock, put, forget } = remembering();
    const kept = await put("before");
    const replaced = await put("old", { id: "r" });
    clock.nowMs += 10;
    const run = { runId: "run-1", asOfMs: clock.nowMs };
    const seen = async () => (await contents(memory, HERE, {}, run)).sort();
    await put("of the run itself", {}, HERE, "run-1");
    clock.nowMs += 10;
    await put("of somebody else");
    await put("new", { id: "r" });
    await forget(kept);
    expect(await seen()).toEqual(["before", "old"]);
    expect((await memory.get(HERE, replaced, run))?.content).toBe("old");
    expect((await contents(memory, HERE)).sort()).toEqual(["new", "of somebody else", "of the run itself"]);
    expect(await memory.get(HERE, kept)).toBeNull();
    expect(await forget(kept)).toBeUndefined();
  });

  test("keeps no secret, and the name of those that have one", async () => {
    const { memory, put } = remembering();
    const id = await put(`${NAMED.value}, ${KNOWN_SECRET} and sk-proj-Ab3dE6gH9jK2mN5pQ8sT1vW4`, {
      tags: [`key:${NAMED.value}`],
    });
    const { content, tags } = (await memory.get(HERE, id)) as MemoryEntry;
    expect(content).toContain("[REDACTED:API_KEY]");
    for (const secret of [NAMED.value, KNOWN_SECRET, "sk-proj"]) expect(content).not.toContain(secret);
    expect(tags).toEqual(["key:[REDACTED:API_KEY]"]);
  });

  test("refuses an id that looks like a secret, since it is shown wherever the entry is named", async () => {
    const { put } = remembering();
    for (const id of [KNOWN_SECRET, NAMED.value, "password=tulip-in-may"]) {
      await expect(put("x", { id })).rejects.toThrow("id looks like a secret");
    }
  });

  test("keeps the last versions of an entry for older runs, and no more however often it is replaced", async () => {
    const { memory, clock, put } = remembering();
    const at = new Map<number, { runId: string; asOfMs: number }>();
    for (let i = 0; i < 40; i++) {
      await put(`version ${i}`, { id: "r" });
      at.set(i, { runId: "older", asOfMs: clock.nowMs });
      clock.nowMs += 10;
    }
    const seen = async (i: number) => (await memory.get(HERE, "r", at.get(i)))?.content;
    expect(await seen(39)).toBe("version 39");
    expect(await seen(20)).toBe("version 20");
    expect(await seen(10)).toBeUndefined();
    for (let i = 0; i < 20; i++) await put("x".repeat(60_000), { id: "large" });
    const [{ bytes } = { bytes: 0 }] = await bench.store.documentSizes("t1", "memory", { limit: 1 });
    expect(bytes).toBeLessThan(400_000);
  });

  test("is bounded, and has room again when something is forgotten", async () => {
    const { memory, put } = remembering();
    const scope = { ...HERE, memoryRef: "full" };
    const content = "x".repeat(64_000);
    let made = 0;
    await expect(
      (async () => {
        for (; made < 1001; made++) await put(content, { id: `e-${made}` }, scope);
      })(),
    ).rejects.toThrow("the memory is full");
    expect(made).toBeGreaterThan(200);
    expect(await put("shorter", { id: "e-0" }, scope)).toBe("e-0");
    const { write } = (await memory.delete(scope, "e-1")) ?? {};
    expect(write?.type).toBe("delete");
    await bench.store.commit({ tenant: "t1", documents: write === undefined ? [] : [write] });
    expect(await put(content, { id: "new" }, scope)).toBe("new");
    expect(await memory.list(scope)).toHaveLength(100);
    expect(givenWithTask(await memory.list(scope))).toHaveLength(15);
  });

  test("has a bounded number of entries, however short they are", async () => {
    const { memory, put } = remembering({ maxEntries: 4 });
    const scope = { ...HERE, memoryRef: "many" };
    for (const i of upTo(4)) await put("x", { id: `e-${i}` }, scope);
    await expect(put("x", {}, scope)).rejects.toThrow("the memory is full with 4 entries");
    await put("y", { id: "e-1" }, scope);
    const { write } = (await memory.delete(scope, "e-2")) ?? {};
    await bench.store.commit({ tenant: "t1", documents: write === undefined ? [] : [write] });
    expect(await put("x", { id: "new" }, scope)).toBe("new");
  });

  test("lists the newest ones, however many there are", async () => {
    const { memory, clock, put } = remembering();
    const scope = { ...HERE, memoryRef: "newest" };
    for (const i of upTo(12)) {
      await put(`text ${i}`, { id: `e-${99 - i}`, tags: i % 2 === 0 ? ["even"] : [] }, scope);
      clock.nowMs += 10;
    }
    const texts = async (options: ListOptions) => (await memory.list(scope, options)).map(({ content }) => content);
    expect(await texts({ limit: 2 })).toEqual(["text 11", "text 10"]);
    expect(await texts({ limit: 2, tag: "even" })).toEqual(["text 10", "text 8"]);
  });

  test("refuses what it cannot keep", async () => {
    const { memory } = remembering({ maxEntrySizeBytes: 4 });
    const refused = { code: "validation_error" };
    await expect(memory.put(HERE, { content: "ü".repeat(2) })).resolves.toBeDefined();
    await expect(memory.put(HERE, { content: "üüü" })).rejects.toMatchObject(refused);
    await expect(memory.put(HERE, { content: "x", expiresAt: "soon" })).rejects.toMatchObject(refused);
    await expect(memory.put(HERE, { content: "x", id: "" })).rejects.toMatchObject(refused);
    await expect(memory.put(HERE, { content: "x", id: "i".repeat(257) })).rejects.toMatchObject(refused);
  });
});

describe("an agent that remembers", () => {
  const everything = ["memory:list", "memory:get", "memory:put", "memory:delete"];

  async function asked(behave: Behaviour, id: string, agent: object = {}, memoryRef?: string) {
    const installed = agentOf({ memoryShape: { longTerm: true }, toolAllowlist: everything, ...agent });
    const { host } = agentHost(bench.store, agentsOf([installed], behave));
    const ref = { agentId: AGENT_ID, ...(memoryRef === undefined ? {} : { memoryRef }) };
    const workflowId = await register(host, workflow({ id, nodes: { ask: { typeId: "assay.agent", agent: ref } } }));
    const worker = bench.work(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId }, ADA);
    const run = await until(bench.store, runId, ended);
    await worker.stop(0);
    return { run, log: await logOf(bench.store, runId) };
  }
  const call = async ({ tools, signal }: AgentTask, name: string, args: object) => tools.call(name, args, signal);
  const written = (log: readonly RunEventDoc[]) => log.filter(({ type }) => type === "memory.written");

  test("finds in its next run what it put away in this one, and not before", async () => {
    const first = await asked(async (task) => {
      const put = await call(task, "memory:put", { content: `likes tea; ${KNOWN_SECRET}`, tags: ["taste"] });
      const listed = await call(task, "memory:list", {});
      return { type: "completed", output: { put, listed, memory: task.memory } };
    }, "first");
    const { result } = (first.run.nodes["ask"]?.outputs ?? {}) as { result: Record<string, unknown> };
    expect(result).toMatchObject({ put: { status: "ok" }, listed: { status: "ok", outcome: [] }, memory: [] });
    const [event] = written(first.log);
    const { id } = (result["put"] as { outcome: { id: string } }).outcome;
    expect(event?.payload).toEqual({
      memoryRef: `agent:${AGENT_ID}`,
      memoryId: id,
      nodeId: "ask",
      agentId: AGENT_ID,
      tags: ["taste"],
    });
    expect(JSON.stringify(first.log)).not.toContain(KNOWN_SECRET);
    let seen: AgentTask | undefined;
    const second = await asked(async (task) => {
      seen = task;
      await call(task, "memory:delete", { id });
      return { type: "completed", output: await call(task, "memory:get", { id }) };
    }, "second");
    expect(seen?.memory).toMatchObject([{ id, tags: ["taste"] }]);
    expect(seen?.memory[0]?.content).toMatch(/^likes tea/);
    expect(second.run.nodes["ask"]?.outputs).toMatchObject({ result: { outcome: { id } } });
    const started = second.log.find(({ type }) => type === "agent.invocation.started");
    expect(started?.payload).toMatchObject({ memoryBound: true, toolSurfaceCount: 4 });
    await asked((task) => {
      seen = task;
      return { type: "completed", output: null };
    }, "third");
    expect(seen?.memory).toEqual([]);
  });

  test("has what its node names, and nothing where its manifest asks for none", async () => {
    const put: Behaviour = async (task) => ({
      type: "completed",
      output: await call(task, "memory:put", { content: "x" }),
    });
    const named = await asked(put, "named", {}, "team/shared");
    expect(written(named.log)[0]?.payload).toMatchObject({ memoryRef: "team/shared" });
    const without = await asked(put, "without", { memoryShape: { scratchpad: true } });
    expect(without.run.nodes["ask"]?.outputs).toMatchObject({ result: { status: "forbidden" } });
    expect(written(without.log)).toEqual([]);
    const unlisted = await asked(put, "unlisted", { toolAllowlist: ["memory:list"] });
    expect(unlisted.run.nodes["ask"]?.outputs).toMatchObject({ result: { status: "forbidden" } });
  });

  test("is told what is wrong with what it puts away", async () => {
    const results: unknown[] = [];
    await asked(async (task) => {
      results.push(await call(task, "memory:put", { content: "x".repeat(70_000) }));
      results.push(await call(task, "memory:put", { text: "x" }));
      results.push(await call(task, "memory:delete", { id: "unknown" }));
      return { type: "completed", output: 1 };
    }, "wrong");
    expect(results).toMatchObject([
      { status: "error", error: /65536 bytes/ },
      { status: "error" },
      { status: "ok", outcome: null },
    ]);
  });
});

test("a secret that begins with another one leaves no tail behind", () => {
  const secrets = [
    { id: "short", value: "swordfish" },
    { id: "long", value: "swordfish-of-tuesday" },
  ];
  const redact = redactor(secrets, { scrubText: (text) => text });
  expect(redact("swordfish-of-tuesday and swordfish")).toBe("[REDACTED:long] and [REDACTED:short]");
});
