import { describe, expect, test } from "vitest";
import { toolsOf, watched } from "../../testing/agent-task.ts";
import type { AgentTask } from "../binding.ts";
import { readScript, scriptedBinding } from "./scripted.ts";

function agent(script: object) {
  const read = readScript(script);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return scriptedBinding(read.script);
}
const ask = async (script: object, task: Partial<AgentTask> = {}) => (await watched(agent(script), task)).answer;

describe("a script", () => {
  test("answers by task, then by input, then in sequence, then by default", async () => {
    const one = agent({
      byTaskId: { t1: { output: "task" } },
      byInput: [
        { equals: { b: 2, a: 1 }, answer: { output: "equal" } },
        { contains: "needle", answer: { output: "contained" } },
      ],
      sequence: [{ output: "first" }, { output: "second" }],
      default: { output: "default" },
    });
    const output = async (task: Partial<AgentTask>) =>
      ((await watched(one, task)).answer as { output: unknown }).output;
    expect(await output({ taskId: "t1", input: "needle" })).toBe("task");
    expect(await output({ taskId: "t2", input: { a: 1, b: 2 } })).toBe("equal");
    expect(await output({ input: { text: "a needle" } })).toBe("contained");
    expect(await output({ input: "other" })).toBe("first");
    expect(await output({ input: "other" })).toBe("second");
    expect(await output({ input: "other" })).toBe("default");
  });

  test("answers each trial of a task with its own, and begins anew after the last", async () => {
    const script = { byTaskId: { t1: [{ output: 1 }, { output: 2 }] } };
    const outputs = [1, 2, 3].map((trial) => ask(script, { taskId: "t1", trial }));
    expect(await Promise.all(outputs)).toMatchObject([{ output: 1 }, { output: 2 }, { output: 1 }]);
  });

  test("that has nothing to say is an error", async () => {
    expect(await ask({ byTaskId: { t1: { output: 1 } } }, { taskId: "t2" })).toEqual({
      type: "failed",
      error: { code: "agent_error", message: "the script has no answer for t2", retryable: false },
    });
  });

  test("may reason, stream, report usage, hand off and say how sure it is", async () => {
    const handoff = { toAgentId: "local.team.other", reason: "better at it" };
    const usage = { inputTokens: 1, outputTokens: 2, costUsd: 0.1 };
    const script = { reasoning: ["so", " then"], chunks: ["4", "2"], usage, output: 42, confidence: 0.3, handoff };
    expect(await watched(agent({ default: script }))).toEqual({
      answer: { type: "completed", output: 42, confidence: 0.3, handoff },
      reasoning: ["so", " then"],
      chunks: ["4", "2"],
      usage: [{ provider: "scripted", model: "scripted", ...usage }],
      again: 0,
    });
  });

  test("may call tools, also those it may not, and repeat what came of it or what went in", async () => {
    const { surface, asked } = toolsOf([{ name: "host:add" }], () => ({ status: "ok", outcome: 3 }));
    const toolCalls = [{ name: "host:rm" }, { name: "host:add", arguments: { a: 1 } }];
    expect(await ask({ default: { toolCalls, echo: "tool" } }, { tools: surface })).toMatchObject({ output: 3 });
    expect(asked).toEqual([
      { name: "host:rm", args: {} },
      { name: "host:add", args: { a: 1 } },
    ]);
    expect(await ask({ default: { echo: "input" } }, { input: [7] })).toMatchObject({ output: [7] });
  });

  test("may refuse or fail", async () => {
    expect(await ask({ default: { refused: "no" } })).toEqual({ type: "refused", reason: "no" });
    expect(await ask({ default: { error: { code: "agent_crashed" } } })).toEqual({
      type: "failed",
      error: { code: "agent_crashed", message: "as scripted", retryable: true },
    });
    const error = { code: "agent_error", message: "boom", retryable: true };
    expect(await ask({ default: { error } })).toEqual({ type: "failed", error });
  });

  test("may take its time, unless the call is no longer wanted", async () => {
    expect(await ask({ default: { delayMs: 5, output: 1 } })).toMatchObject({ output: 1 });
    const stop = new AbortController();
    const asked = ask({ default: { delayMs: 600_000, output: 1 } }, { signal: stop.signal });
    stop.abort(new Error("cancelled"));
    await expect(asked).rejects.toThrow("cancelled");
  });

  test("answers alike wherever it has the same fingerprint; with a sequence it has none", () => {
    const one = agent({ default: { output: { a: 1, b: 2 } } }).fingerprint;
    expect(one).toBe(agent({ default: { output: { b: 2, a: 1 } } }).fingerprint);
    expect(one).not.toBe(agent({ default: { output: { a: 1, b: 3 } } }).fingerprint);
    expect(agent({ sequence: [{ output: 1 }] }).fingerprint).toBeUndefined();
  });
});

test("a script is refused with everything that is wrong with it", () => {
  const read = readScript({
    byTaskId: { t1: {}, t2: [], t3: { output: 1, refused: "no" }, t4: 7 },
    byInput: [{ answer: { output: 1 } }, { equals: 1, contains: "x", answer: { outptu: 1 } }],
    sequence: [{ error: { code: "boom" } }],
    default: { output: 1, confidence: 2, delayMs: -1 },
  });
  expect(read.ok ? [] : read.problems.map(({ path, problem }) => `${path} ${problem}`)).toEqual([
    "/byTaskId/t1 must have exactly one of output, echo, refused, error",
    "/byTaskId/t2 must have at least one answer",
    "/byTaskId/t3 must have exactly one of output, echo, refused, error",
    "/byTaskId/t4 must be object",
    "/byInput/0 must have exactly one of equals, contains",
    "/byInput/1 must have exactly one of equals, contains",
    '/byInput/1/answer must not have "outptu"; remove it',
    expect.stringMatching(/^\/sequence\/0\/error\/code must be one of "agent_unreachable"/),
    expect.stringMatching(/^\/default\/delayMs /),
    expect.stringMatching(/^\/default\/confidence /),
  ]);
  for (const value of [null, [], {}, { answers: [] }]) expect(readScript(value)).toMatchObject({ ok: false });
});
