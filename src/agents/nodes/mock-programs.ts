import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import { type MockAnswer, type MockProvider, mockProviderOf } from "../../protocol/runs/mock-provider.ts";
import type { AgentAnswer, Binding, Usage, Watcher } from "../binding.ts";
import { failed, failedWith } from "../bindings/answers.ts";
import { isProse, jsonIn } from "../models/prompt.ts";

const NODES_MOST = 1000;

/** Answers that were staged by a conformance suite, for each tenant by node. Kept in this process only. */
export class MockPrograms {
  readonly #staged = new Map<string, MockAnswer[]>();

  program(tenant: string, nodeId: string, answers: readonly MockAnswer[]): void {
    const key = keyOf(tenant, nodeId);
    this.#staged.delete(key);
    this.#staged.set(key, [...answers]);
    if (this.#staged.size > NODES_MOST) this.#staged.delete(this.#staged.keys().next().value ?? "");
  }

  next(tenant: string, nodeId: string): MockAnswer | undefined {
    return this.#staged.get(keyOf(tenant, nodeId))?.shift();
  }

  clear(tenant: string): void {
    for (const key of this.#staged.keys()) if (JSON.parse(key)[0] === tenant) this.#staged.delete(key);
  }
}

function keyOf(tenant: string, nodeId: string): string {
  return JSON.stringify([tenant, nodeId]);
}

/** Answers in place of a model: what was staged for the node. Refuses when nothing was. */
export function programmed(programs: MockPrograms, tenant: string, nodeId: string): Binding {
  return {
    kind: "scripted",
    provider: "mock",
    model: "mock",
    async call(task, watch) {
      task.signal.throwIfAborted();
      const next = programs.next(tenant, nodeId);
      if (next === undefined) return failed("agent_not_configured", `no mock answer is staged for node ${nodeId}`);
      const { inputTokens = 0, outputTokens = 0 } = next.usage ?? {};
      watch.usage({ provider: "mock", model: "mock", inputTokens, outputTokens });
      if (next.stopReason === "safety" || next.stopReason === "refusal" || next.refusalText !== undefined) {
        return { type: "refused", reason: next.refusalText ?? "the mock declined" };
      }
      if (next.stopReason === "max_tokens")
        return failedWith("agent_output_too_large", "the mock was cut off", "cut-off");
      if (Object.hasOwn(next, "json")) return { type: "completed", output: next.json };
      const text = next.text ?? next.content ?? "";
      return task.returnSchema === undefined ? { type: "completed", output: text } : valueIn(text);
    },
  };
}

function valueIn(text: string): AgentAnswer {
  const json = jsonIn(text);
  if (json === undefined) {
    return failedWith("agent_output_invalid", "what the mock says is not JSON", isProse(text) ? "prose" : undefined);
  }
  const { value: output, recovered } = json;
  return { type: "completed", output, ...defined({ recovered }) };
}

/** The mock that the run itself configures; undefined where it has none. */
export function mockOf(configurable: Readonly<Record<string, unknown>> | undefined): Binding | undefined {
  const mock = mockProviderOf(configurable);
  if (mock === undefined) return undefined;
  return {
    kind: "scripted",
    provider: "mock",
    model: mock.id === "stream-text" ? (mock.config.model ?? "mock") : "mock",
    call: ({ signal }, watch) => answered(mock, watch, signal),
  };
}

async function answered(mock: MockProvider, watch: Watcher, signal: AbortSignal): Promise<AgentAnswer> {
  signal.throwIfAborted();
  switch (mock.id) {
    case "stream-text": {
      const { tokens = [], delayMsPerToken = 0, usage = {}, model = "mock" } = mock.config;
      for (const token of tokens) {
        if (delayMsPerToken > 0) await sleep(delayMsPerToken, undefined, { signal });
        watch.chunk(token);
      }
      watch.usage(usageOf(usage, model, tokens.length));
      return { type: "completed", output: tokens.join("") };
    }
    case "error": {
      const { code, message, retryable = false, failAfterMs = 0 } = mock.config;
      if (failAfterMs > 0) await sleep(failAfterMs, undefined, { signal });
      return failed("agent_error", `${code}: ${message}`, retryable);
    }
    case "usage-only":
      watch.usage({
        ...usageOf(mock.config.usage, mock.config.model ?? "mock", 0),
        provider: mock.config.provider ?? "mock",
      });
      return { type: "completed", output: "" };
  }
}

function usageOf(
  { promptTokens = 0, completionTokens }: { promptTokens?: number; completionTokens?: number },
  model: string,
  tokens: number,
): Usage {
  return { provider: "mock", model, inputTokens: promptTokens, outputTokens: completionTokens ?? tokens };
}
