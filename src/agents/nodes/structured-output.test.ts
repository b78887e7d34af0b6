import { describe, expect, test } from "vitest";
import { forkRun } from "../../engine/runs/fork-run.ts";
import { EVENTS, type RunEventDoc } from "../../protocol/events.ts";
import type { MockAnswer } from "../../protocol/runs/mock-provider.ts";
import { matches } from "../../protocol/schema.ts";
import { agentHost } from "../../testing/agent-nodes.ts";
import { begin, logOf, register, until } from "../../testing/engine.ts";
import { agentOf, agentsOf, type Behaviour, echo } from "../../testing/eval-bench.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { AgentTask } from "../binding.ts";

const bench = workbench();
const outputSchema = {
  title: "Verdict",
  type: "object",
  required: ["valid"],
  properties: { valid: { type: "boolean" } },
};

interface Given {
  readonly program?: readonly MockAnswer[];
  readonly config?: object;
  readonly behave?: Behaviour;
}

async function ran({ program, config = {}, behave = echo }: Given) {
  const { host, mocks } = agentHost(bench.store, agentsOf([agentOf()], behave));
  mocks.program("t1", "n", program ?? []);
  const provider = program === undefined ? {} : { provider: "mock" };
  const node = { typeId: "core.ai.structuredOutput", config: { outputSchema, ...provider, ...config } };
  const workflowId = await register(host, workflow({ nodes: { n: node } }));
  bench.work(host);
  const runId = await begin(host, { workflowId });
  const run = await until(bench.store, runId, ended);
  const log = await logOf(bench.store, runId);
  for (const { type, payload } of log) {
    expect(matches(EVENTS[type as keyof typeof EVENTS].payload, payload), type).toBe(true);
  }
  return { host, runId, run, log, left: mocks.next("t1", "n") };
}

/** What was told of the shape, in order. */
const told = (log: readonly RunEventDoc[]) =>
  log
    .filter(({ type }) => type.startsWith("envelope.") || type === "cap.breached")
    .map(({ type, payload: about }) => {
      const { nodeId, ...payload } = about as Readonly<Record<string, unknown>>;
      expect(nodeId).toBe("n");
      return [type.replace("envelope.", ""), payload];
    });

const GOOD = { text: '{"valid":true}' };
const BROKEN = { text: '{"valid":' };
const WRONG = { text: '{"valid":"the-blue-heron"}' };
const PROSE = { text: "I think that it is valid." };
const CUT = { text: '{"val', stopReason: "max_tokens", usage: { outputTokens: 50 } };
const spare = [GOOD, GOOD];
const by = { provider: "mock", model: "mock" };
const cut = { ...by, stopReason: "max_tokens", partialPayloadAvailable: false, outputTokenCount: 50 };
const again = (attempt: number, reason: string) => ["retry.attempted", { attempt, reason }];
const over = (totalAttempts: number, finalReason: string) => [
  ["retry.exhausted", { totalAttempts, finalReason }],
  ["cap.breached", { kind: "schema", limit: 3, observed: totalAttempts }],
];

describe("a value of a given shape", () => {
  test.each<[string, MockAnswer[], unknown[], object]>([
    ["is taken as it is", [GOOD], [], { status: "completed" }],
    [
      "is taken out of a fence",
      [{ text: '```json\n{"valid":true}\n```' }],
      [["recovery.applied", { path: "markdown-fence" }]],
      { status: "completed" },
    ],
    ["is asked for again when it is no JSON", [BROKEN, GOOD], [again(2, "parse-error")], { status: "completed" }],
    ["and when it has another shape", [WRONG, GOOD], [again(2, "schema-violation")], { status: "completed" }],
    ["and when it was cut off", [CUT, GOOD], [["truncated", cut], again(2, "truncation")], { status: "completed" }],
    [
      "is given up when it never comes",
      [BROKEN, WRONG, WRONG, ...spare],
      [again(2, "parse-error"), again(3, "schema-violation"), ...over(3, "schema-violation")],
      { status: "failed", error: { code: "envelope_payload_invalid" } },
    ],
    [
      "is given up when it is broken each time, which is no prose",
      [BROKEN, BROKEN, BROKEN, ...spare],
      [again(2, "parse-error"), again(3, "parse-error"), ...over(3, "parse-error")],
      { status: "failed", error: { code: "envelope_payload_invalid" } },
    ],
    [
      "is given up when it is cut off each time",
      [CUT, CUT, CUT, ...spare],
      [
        ["truncated", cut],
        again(2, "truncation"),
        ["truncated", cut],
        again(3, "truncation"),
        ["truncated", cut],
        ...over(3, "truncation"),
      ],
      { status: "failed", error: { code: "envelope_truncation_unrecoverable" } },
    ],
    [
      "is asked for once more when all that comes is prose",
      [PROSE, PROSE, PROSE, GOOD],
      [
        again(2, "parse-error"),
        again(3, "parse-error"),
        ["nlToFormat.engaged", { originalEnvelopeType: "Verdict", fallbackCalls: 1 }],
      ],
      { status: "completed" },
    ],
    [
      "and only once",
      [PROSE, PROSE, PROSE, PROSE, ...spare],
      [
        again(2, "parse-error"),
        again(3, "parse-error"),
        ["nlToFormat.engaged", { originalEnvelopeType: "Verdict", fallbackCalls: 1 }],
        ...over(4, "parse-error"),
      ],
      { status: "failed", error: { code: "envelope_payload_invalid" } },
    ],
    [
      "and what was said before counts when that comes to nothing",
      [PROSE, PROSE, PROSE],
      [
        again(2, "parse-error"),
        again(3, "parse-error"),
        ["nlToFormat.engaged", { originalEnvelopeType: "Verdict", fallbackCalls: 1 }],
        ...over(4, "parse-error"),
      ],
      { status: "failed", error: { code: "envelope_payload_invalid" } },
    ],
    [
      "is not asked for again of a model that declines",
      [{ stopReason: "safety", refusalText: "the-blue-heron is not for me" }, GOOD],
      [["refusal", { ...by, refusalText: null }]],
      { status: "failed", error: { code: "envelope_refusal" } },
    ],
  ])("%s", async (_, program, events, outcome) => {
    const { run, log, left } = await ran({ program, config: { retryOnInvalidJson: 0 } });
    expect(run).toMatchObject(outcome);
    if (run.status === "completed") expect(run.nodes["n"]?.outputs).toEqual({ output: { valid: true } });
    expect(told(log)).toEqual(events);
    expect(left !== undefined).toBe(program.includes(GOOD) && run.status === "failed");
    expect(JSON.stringify(log)).not.toContain("the-blue-heron");
  });

  test("is asked for more often where the workflow says so", async () => {
    const { run } = await ran({ program: [WRONG, WRONG, WRONG, WRONG, GOOD], config: { retryOnInvalidJson: 4 } });
    expect(run.status).toBe("completed");
  });

  test("is asked for with what was wrong, or with twice the room, and never with both", async () => {
    const asked: Pick<AgentTask, "systemPrompt" | "outputBudget">[] = [];
    const { run } = await ran({
      config: { systemPrompt: "Judge.", maxTokens: 50 },
      behave: ({ systemPrompt = "", outputBudget = { times: 0 } }) => {
        asked.push({ systemPrompt, outputBudget });
        const cutOff = { code: "agent_output_too_large", message: "", retryable: false, instead: "cut-off" } as const;
        if (asked.length === 1) return { type: "failed", error: cutOff };
        return { type: "completed", output: { valid: asked.length === 2 ? "yes" : true } };
      },
    });
    expect(run.status).toBe("completed");
    expect(asked).toEqual([
      { systemPrompt: "Judge.", outputBudget: { tokens: 50, times: 1 } },
      { systemPrompt: "Judge.", outputBudget: { tokens: 50, times: 2 } },
      { systemPrompt: expect.stringMatching(/^Judge\.\n\n.*valid/s), outputBudget: { tokens: 50, times: 2 } },
    ]);
  });

  test("is kept without the secrets in it", async () => {
    const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    const { run, log } = await ran({ program: [{ text: JSON.stringify({ valid: true, why: `it is ${secret}` }) }] });
    expect(run.nodes["n"]?.outputs).toMatchObject({ output: { valid: true, why: expect.stringContaining("it is ") } });
    expect(JSON.stringify([run, log])).not.toContain(secret);
  });

  test("is asked for with what was wrong also after it was cut off", async () => {
    const asked: string[] = [];
    const { run } = await ran({
      behave: ({ systemPrompt = "" }) => {
        asked.push(systemPrompt);
        const cutOff = { code: "agent_output_too_large", message: "", retryable: false, instead: "cut-off" } as const;
        if (asked.length === 2) return { type: "failed", error: cutOff };
        return { type: "completed", output: { valid: asked.length === 1 ? "yes" : true } };
      },
    });
    expect(run.status).toBe("completed");
    expect(asked).toEqual(["", expect.stringContaining("/valid"), asked[1]]);
  });

  test("was cut off at what the model used last", async () => {
    const { log } = await ran({
      behave: (_, watch) => {
        for (const outputTokens of [7, 9]) watch.usage({ provider: "p", model: "m", inputTokens: 1, outputTokens });
        const cutOff = { code: "agent_output_too_large", message: "", retryable: false, instead: "cut-off" } as const;
        return { type: "failed", error: cutOff };
      },
    });
    expect(told(log)[0]).toEqual(["truncated", expect.objectContaining({ outputTokenCount: 9 })]);
  });

  test.each(["agent_unreachable", "agent_output_too_large"] as const)(
    "is not asked for again of a model that ended with %s",
    async (code) => {
      let calls = 0;
      const { run, log } = await ran({
        behave: () => {
          calls += 1;
          return { type: "failed", error: { code, message: "gone", retryable: true } };
        },
      });
      expect(run).toMatchObject({ status: "failed", error: { code } });
      expect(calls).toBe(1);
      expect(told(log)).toEqual([]);
    },
  );

  test("is told again by a replay as it came, also when it never came", async () => {
    const { host, runId, log } = await ran({ program: [CUT, WRONG, BROKEN] });
    const { runId: replayId } = await forkRun(host, { ...change(runId), request: { mode: "replay", fromSeq: 0 } });
    await until(bench.store, replayId, ended);
    const shown = (events: readonly RunEventDoc[]) => events.map(({ type, payload }) => ({ type, payload }));
    expect(shown(await logOf(bench.store, replayId))).toEqual(shown(log));
  });

  test("needs a schema that is one", async () => {
    await expect(ran({ config: { outputSchema: { type: "nonsense" } } })).rejects.toMatchObject({
      code: "validation_error",
    });
  });
});
