import type { ModelMessage } from "ai";
import { sortedJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import type { AgentAnswer, AgentTask, Binding, Watcher } from "../binding.ts";
import type { Asking } from "../models/ask-model.ts";
import type { Format, ModelSettings } from "../models/model-settings.ts";
import { type PriceTable, unmetered } from "../models/prices.ts";
import { formatFor, inputText, isProse, jsonIn, memoryText, systemFor } from "../models/prompt.ts";
import type { Turn } from "../models/take-turn.ts";
import { sayableNames } from "../models/tool-calls.ts";
import { RETRY_WORLD, type RetryWorld, withinTime } from "../retrying.ts";
import { failed, failedWith, tooSlow, withOutput } from "./answers.ts";

export interface ModelBindingSettings extends ModelSettings {
  /** The number of turns before the model must have answered. */
  readonly maxTurns: number;
}

export const MAX_TURNS = 16;

/** An agent that is a model with a system prompt and tools. The settings stay in here: what is returned can be logged. */
export function modelBinding(
  settings: ModelBindingSettings,
  prices: readonly PriceTable[],
  world: RetryWorld = RETRY_WORLD,
): Binding {
  const { providerName: provider, model, timeoutMs } = settings;
  const asking: Asking = { settings, prices, world, format: settings.format };
  return {
    kind: "model",
    provider,
    model,
    fingerprint: fingerprintOf(settings),
    call: (task, watch) =>
      withinTime(
        timeoutMs,
        task.signal,
        (signal) => turns(asking, settings.maxTurns, { ...task, signal }, watch),
        () => tooSlow(timeoutMs),
      ),
  };
}

/** Everything that changes the request; neither the key nor the time limits. */
function fingerprintOf(settings: ModelBindingSettings): string {
  const { provider, baseUrl, model, api, format, temperature, maxOutputTokens, seed, options, maxTurns } = settings;
  const asked = { provider, baseUrl, model, api, format, temperature, maxOutputTokens, seed, options, maxTurns };
  return `model:${sha256(sortedJson(asked))}`;
}

async function turns(asking: Asking, maxTurns: number, task: AgentTask, watch: Watcher): Promise<AgentAnswer> {
  // Loaded with the first call, see `language-model.ts`.
  const [{ askModel }, { callTools }] = await Promise.all([
    import("../models/ask-model.ts"),
    import("../models/tool-calls.ts"),
  ]);
  const { returnSchema: schema, signal } = task;
  const tools = sayableNames(task.tools.tools);
  const messages: ModelMessage[] = openingOf(task);
  const maxOutputTokens = budgetOf(task.outputBudget, asking.settings);
  const watcher = {
    chunk: (text: string) => watch.chunk(text),
    reasoning: (delta: string) => watch.reasoning(delta),
    again: () => watch.again?.(),
  };
  for (let count = 1; count <= maxTurns; count++) {
    const requestIn = (wished: Format) => {
      const format = formatFor(schema, wished);
      const system = systemFor(task.systemPrompt, schema, format);
      return { system, messages, tools, format, schema, maxOutputTokens, temperature: task.temperature };
    };
    const taken = await askModel(asking, requestIn, watcher, signal);
    if ("problem" in taken) {
      const { code, message, again } = taken.problem;
      return failed(code, `${asking.settings.model}: ${message}`, again);
    }
    const { turn } = taken;
    watch.usage(turn.usage ?? unmetered(asking.settings, asking.prices));
    if (turn.finish === "content-filter") return refused(turn);
    if (turn.calls.length === 0) return answerOf(turn, task, asking.settings);
    messages.push(...turn.replies, await callTools(turn.calls, tools, task.tools, signal));
  }
  return failed("agent_error", `${asking.settings.model}: it has not answered within ${maxTurns} turns`);
}

/** Undefined where no budget is set: the provider applies its own. */
function budgetOf({ tokens, times }: NonNullable<AgentTask["outputBudget"]> = { times: 1 }, settings: ModelSettings) {
  const once = tokens ?? settings.maxOutputTokens;
  return once === undefined ? undefined : once * times;
}

function openingOf({ memory, input }: AgentTask): ModelMessage[] {
  const remembered: ModelMessage[] = memory.length === 0 ? [] : [{ role: "user", content: memoryText(memory) }];
  return [...remembered, { role: "user", content: inputText(input) }];
}

const REASON_CHARACTERS = 1_000;

function refused({ text }: Turn): AgentAnswer {
  const reason = text.trim().slice(0, REASON_CHARACTERS);
  return { type: "refused", reason: reason === "" ? "the provider withheld the answer" : reason };
}

function answerOf(turn: Turn, { returnSchema }: AgentTask, { model }: ModelSettings): AgentAnswer {
  if (turn.finish === "length") {
    const message = `${model}: its answer was cut off at the most tokens it may use`;
    return failedWith("agent_output_too_large", message, "cut-off");
  }
  if (returnSchema === undefined) return withOutput(turn.text);
  const json = jsonIn(turn.text);
  if (json === undefined) {
    const message = `${model}: what it answered is not JSON`;
    return failedWith("agent_output_invalid", message, isProse(turn.text) ? "prose" : undefined);
  }
  const { value, recovered } = json;
  return withOutput(value, { ...confidenceIn(value, returnSchema), ...defined({ recovered }) });
}

/** The confidence, where the schema or one of its alternatives has it. */
function confidenceIn(value: unknown, schema: Readonly<Record<string, unknown>>): { readonly confidence?: number } {
  const { anyOf = [], oneOf = [] } = schema as Choice;
  const asked = [schema, ...anyOf, ...oneOf].some(
    (one) => (one as Choice | null)?.properties?.["confidence"] !== undefined,
  );
  const confidence = (value as { confidence?: unknown } | null)?.confidence;
  const isOne = typeof confidence === "number" && confidence >= 0 && confidence <= 1;
  return asked && isOne ? { confidence } : {};
}

interface Choice {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
}
