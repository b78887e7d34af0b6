import { scrubInTurns } from "../../engine/secrets/scrub-in-turns.ts";
import type { EffectContext, EffectNodeType } from "../../engine/worker/node-type.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { MODEL_CLASSES } from "../../protocol/evals/eval-suite.ts";
import type { RunError } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import { type MockProvider, mockProviderOf } from "../../protocol/runs/mock-provider.ts";
import { type Static, type TSchema, Type } from "../../protocol/schema.ts";
import type { AgentAnswer, AgentTask, Binding, Usage } from "../binding.ts";
import { failed } from "../bindings/answers.ts";
import type { CalledAgent } from "../bindings/bindings.ts";
import { usageEvent } from "../invocation-events.ts";
import { ClearText, Messages, tokensOf } from "../message-stream.ts";
import { type ModelChoice, wishesOf } from "../models/model-settings.ts";
import { joined } from "../tool-surface.ts";
import { type AgentHost, NO_KEYS, scrubberOf } from "./ask-agent.ts";
import { closeLost, EventAppender } from "./event-appender.ts";
import { type MockPrograms, mockOf, programmed } from "./mock-programs.ts";

export interface PromptDesk {
  readonly models: {
    bindingFor(asked: CalledAgent, choice: ModelChoice | undefined, tenant: string): Binding | undefined;
  };
  /** Answers in place of a model; absent without the conformance seams. */
  readonly mocks?: MockPrograms;
}

const Text = Type.String({ minLength: 1, maxLength: 65_536 });

export const PROMPT = {
  promptId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  prompt: Type.Optional(Text),
  systemPrompt: Type.Optional(Text),
  modelClass: Type.Optional(Type.Enum([...MODEL_CLASSES])),
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  maxTokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: "what the model may say at most" }),
  ),
};

/** Open, as those of other hosts are; what would change the meaning of the prompt is refused by name. */
export const open = { additionalProperties: true } as const;
const CallConfig = Type.Object({ ...PROMPT, expectsStreaming: Type.Optional(Type.Boolean()) }, open);
type PromptConfig = Static<typeof CallConfig>;
const GATED = {
  systemPromptRef: "prompts.supported",
  userPromptRef: "prompts.supported",
  schemaHintPromptRef: "prompts.supported",
  fewShotPromptRefs: "prompts.supported",
  additionalPromptRefs: "prompts.supported",
  mcp: "mcp.supported",
};

export const promptNode = (typeId: string, config: TSchema) =>
  ({ kind: "effect", typeId, config, gatedConfig: GATED, capability: "agents" }) as const;

/** Asks a model, with no agent around it: the prompt is in the workflow. */
export function callPrompt(host: AgentHost, desk: () => PromptDesk): EffectNodeType {
  return {
    ...promptNode("core.ai.callPrompt", CallConfig),
    summary: "Asks a model and streams what it says.",
    async execute(context) {
      const { maxTokens: tokens } = context.config as PromptConfig;
      const budget = tokens === undefined ? {} : { outputBudget: { tokens, times: 1 } };
      const { answer, usage } = await ask(host, desk(), context, budget);
      if (answer.type !== "completed") return { type: "failed", error: errorOf(host, answer) };
      const text = await scrubInTurns(host.scrubber, answer.output);
      const used = usage.at(-1);
      return { type: "completed", outputs: { text, ...(used === undefined ? {} : { usage: tokensOf(used) }) } };
    },
  };
}

/** The speaker of a prompt is the model, not an agent. */
const SPEAKER = "host:prompt";

interface Wish extends Pick<AgentTask, "returnSchema" | "outputBudget"> {
  /** The errors of the previous answer. */
  readonly correction?: string | undefined;
}

/** The result of one model call, with the model that gave it. */
export interface PromptResult {
  readonly answer: AgentAnswer;
  readonly usage: readonly Usage[];
  readonly provider: string;
  readonly model: string;
}

export async function ask(
  host: AgentHost,
  desk: PromptDesk,
  context: EffectContext,
  { correction = "", ...wish }: Wish,
): Promise<PromptResult> {
  const { run, node, signal } = context;
  const binding = bindingOf(desk, context);
  const { provider = "unknown", model = "unknown" } = binding ?? {};
  const refused = (message: string): PromptResult => {
    return { answer: failed("agent_not_configured", message), usage: [], provider, model };
  };
  if (binding === undefined) {
    return refused(`No agents file has a model for node ${node.id}; give one for its class in modelClasses.`);
  }
  const { asked, bringsKey } = wishesOf(run);
  if (bringsKey && binding.kind === "model") return refused(NO_KEYS.message);
  const appender = new EventAppender(context);
  for (const event of await closeLost(host.store, context)) appender.append(event);
  const usage: Usage[] = [];
  const scrubber = scrubberOf(host.scrubber, run);
  const place = { nodeId: node.id, runId: run.runId };
  const speaker = { agentId: SPEAKER, ...place, scrubber, content: true, emit: appender.append };
  const mock = desk.mocks && mockProviderOf(run.configurable);
  const messages = new Messages(speaker, isClean(mock, scrubber) ? new ClearText() : undefined);
  const { systemPrompt = "" } = context.config as PromptConfig;
  const instructions = [systemPrompt, correction].filter((part) => part !== "").join("\n\n");
  const answer = await binding.call(
    {
      input: inputOf(context),
      runId: run.runId,
      invocationId: host.newId("inv"),
      ...(instructions === "" ? {} : { systemPrompt: instructions }),
      ...wish,
      ...asked,
      ...budgetOf(asked, wish),
      tools: joined([]),
      memory: [],
      signal,
    },
    {
      reasoning: () => {},
      chunk: (text) => messages.add(text),
      usage: (used) => {
        usage.push(used);
        messages.used(used);
      },
      again: () => messages.breakOff(),
    },
  );
  signal.throwIfAborted();
  messages.end(finishOf(answer, mock));
  for (const used of usage) appender.append(usageEvent(node.id, used));
  await appender.flushed();
  return { answer, usage, provider, model };
}

/** The mock of the run, a staged one, or a model of the class that the node requires. */
function bindingOf({ models, mocks }: PromptDesk, { node, run, config }: EffectContext): Binding | undefined {
  const { provider, modelClass = "general" } = config as PromptConfig;
  const brought = mocks && mockOf(run.configurable);
  if (brought !== undefined) return brought;
  if (provider === "mock") return mocks && programmed(mocks, run.owner.tenant, node.id);
  return models.bindingFor({ agentId: SPEAKER, modelClass }, wishesOf(run).choice, run.owner.tenant);
}

/** The prompt of the workflow, or the run's replacement, and the inputs. */
function inputOf({ config, inputs, run }: EffectContext): unknown {
  const { promptId, prompt } = config as PromptConfig;
  const overrides = run.configurable?.["promptOverrides"] as Readonly<Record<string, string>> | undefined;
  const text = (promptId === undefined ? undefined : own(overrides ?? {}, promptId)) ?? prompt;
  if (text === undefined) return inputs;
  return Object.keys(inputs).length === 0 ? text : { prompt: text, ...inputs };
}

function isClean(mock: MockProvider | undefined, { scrubText }: Pick<Scrubber, "scrubText">): boolean {
  if (mock?.id !== "stream-text") return false;
  const text = (mock.config.tokens ?? []).join("");
  return scrubText(text) === text;
}

function finishOf(answer: AgentAnswer, mock: MockProvider | undefined): string {
  if (answer.type === "refused") return "content-filter";
  if (answer.type === "failed") return "error";
  return (mock?.id === "stream-text" ? mock.config.finishReason : undefined) ?? "stop";
}

/** The budget of the run overrides that of the node. */
function budgetOf({ outputBudget: ofRun }: Wish, { outputBudget: ofNode }: Wish): Pick<AgentTask, "outputBudget"> {
  return ofRun === undefined ? {} : { outputBudget: { ...ofRun, times: ofNode?.times ?? 1 } };
}

/** A refusal by a model may quote the prompt, so its text is left out. */
export function errorOf({ scrubber }: AgentHost, answer: Exclude<AgentAnswer, { type: "completed" }>): RunError {
  if (answer.type === "refused") return { code: "agent_refused", message: "The model declined.", retryable: false };
  const { code, message, retryable } = answer.error;
  return { code, message: scrubber.scrubText(message), retryable };
}
