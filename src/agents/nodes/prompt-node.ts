import { compileSchema } from "../../engine/decide/json-schema.ts";
import type { EffectContext, EffectNodeType, NodeOutcome } from "../../engine/node-type.ts";
import type { Scrubber } from "../../formats/scrub.ts";
import { MODEL_CLASSES } from "../../protocol/eval-suite.ts";
import type { RunError } from "../../protocol/events.ts";
import { type MockProvider, mockProviderOf } from "../../protocol/mock-provider.ts";
import { own } from "../../protocol/own.ts";
import { type Static, type TSchema, Type } from "../../protocol/schema.ts";
import type { AgentAnswer, AgentTask, Binding, Usage } from "../binding.ts";
import type { CalledAgent } from "../bindings.ts";
import { ClearText, Messages, tokensOf } from "../spoken.ts";
import { joined } from "../tools/joined.ts";
import { usageEvent } from "../usage-event.ts";
import { type AgentHost, scrubberOf } from "./ask-agent.ts";
import { closeLost } from "./lost-invocation.ts";
import { type MockPrograms, mockOf, programmed } from "./mock-programs.ts";
import { Telling } from "./telling.ts";

export interface PromptDesk {
  readonly models: { bindingFor(asked: CalledAgent): Binding | undefined };
  /** Answers in place of a model; absent where nobody watches by the seams. */
  readonly mocks?: MockPrograms;
}

const Text = Type.String({ minLength: 1, maxLength: 65_536 });

const PROMPT = {
  promptId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  prompt: Type.Optional(Text),
  systemPrompt: Type.Optional(Text),
  modelClass: Type.Optional(Type.Enum([...MODEL_CLASSES])),
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
};

/** Open, as those of other hosts are; what would change the meaning of the prompt is refused by name. */
const open = { additionalProperties: true } as const;
const CallConfig = Type.Object({ ...PROMPT, expectsStreaming: Type.Optional(Type.Boolean()) }, open);
type PromptConfig = Static<typeof CallConfig>;
const StructuredConfig = Type.Object(
  {
    ...PROMPT,
    outputSchema: Type.Record(Type.String(), Type.Unknown()),
    retryOnInvalidJson: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  },
  open,
);

const GATED = {
  systemPromptRef: "prompts.supported",
  userPromptRef: "prompts.supported",
  schemaHintPromptRef: "prompts.supported",
  fewShotPromptRefs: "prompts.supported",
  additionalPromptRefs: "prompts.supported",
  mcp: "mcp.supported",
};

const base = (typeId: string, config: TSchema) =>
  ({ kind: "effect", typeId, config, gatedConfig: GATED, capability: "agents" }) as const;

/** Asks a model, with no agent around it: the prompt is in the workflow. */
export function callPrompt(host: AgentHost, desk: () => PromptDesk): EffectNodeType {
  return {
    ...base("core.ai.callPrompt", CallConfig),
    summary: "Asks a model and streams what it says.",
    async execute(context) {
      const { answer, usage } = await ask(host, desk(), context, {});
      if (answer.type !== "completed") return { type: "failed", error: errorOf(host, answer) };
      const text = host.scrubber.scrubValue(answer.output);
      const used = usage.at(-1);
      return { type: "completed", outputs: { text, ...(used === undefined ? {} : { usage: tokensOf(used) }) } };
    },
  };
}

/** The same for a value of a given shape; one that is not of that shape is asked for again, a bounded number of times. */
export function structuredOutput(host: AgentHost, desk: () => PromptDesk): EffectNodeType {
  return {
    ...base("core.ai.structuredOutput", StructuredConfig),
    summary: "Asks a model for a value that a JSON Schema describes.",
    check: (config) => {
      compileSchema((config as Static<typeof StructuredConfig>).outputSchema, "outputSchema");
      return undefined;
    },
    async execute(context): Promise<NodeOutcome> {
      const { outputSchema, retryOnInvalidJson = 1 } = context.config as Static<typeof StructuredConfig>;
      const problemsOf = compileSchema(outputSchema, "outputSchema");
      for (let tries = 0; ; tries++) {
        const { answer } = await ask(host, desk(), context, { returnSchema: outputSchema });
        const invalid = answer.type === "failed" && answer.error.code === "agent_output_invalid";
        if (answer.type !== "completed" && !invalid) return { type: "failed", error: errorOf(host, answer) };
        if (answer.type === "completed" && problemsOf(answer.output).length === 0) {
          return { type: "completed", outputs: { output: host.scrubber.scrubValue(answer.output) } };
        }
        if (tries >= retryOnInvalidJson) {
          const message = `What the model answered is not as the schema of node ${context.node.id} has it.`;
          return { type: "failed", error: { code: "agent_output_invalid", message, retryable: false } };
        }
      }
    },
  };
}

/** A model speaks for itself here. */
const SPEAKER = "host:prompt";

async function ask(
  host: AgentHost,
  desk: PromptDesk,
  context: EffectContext,
  more: Pick<AgentTask, "returnSchema">,
): Promise<{ readonly answer: AgentAnswer; readonly usage: readonly Usage[] }> {
  const { run, node, signal } = context;
  const binding = bindingOf(desk, context);
  if (binding === undefined) return { answer: notConfigured(node.id), usage: [] };
  const telling = new Telling(context);
  for (const event of await closeLost(host.store, context)) telling.tell(event);
  const usage: Usage[] = [];
  const scrubber = scrubberOf(host.scrubber, run);
  const speaker = { agentId: SPEAKER, nodeId: node.id, runId: run.runId, scrubber, content: true, emit: telling.tell };
  const mock = desk.mocks && mockProviderOf(run.configurable);
  const messages = new Messages(speaker, isClean(mock, scrubber) ? new ClearText() : undefined);
  const { systemPrompt } = context.config as PromptConfig;
  const answer = await binding.call(
    {
      input: inputOf(context),
      runId: run.runId,
      invocationId: host.newId("inv"),
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      ...more,
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
  for (const used of usage) telling.tell(usageEvent(node.id, used));
  await telling.told();
  return { answer, usage };
}

/** What is brought with the run, what was staged, or a model of the class that the node asks for. */
function bindingOf({ models, mocks }: PromptDesk, { node, run, config }: EffectContext): Binding | undefined {
  const { provider, modelClass = "general" } = config as PromptConfig;
  const brought = mocks && mockOf(run.configurable);
  if (brought !== undefined) return brought;
  if (provider === "mock") return mocks && programmed(mocks, run.owner.tenant, node.id);
  return models.bindingFor({ agentId: SPEAKER, modelClass });
}

/** What stands in the workflow, or what the run says instead, and the inputs. */
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

function notConfigured(nodeId: string): AgentAnswer {
  const message = `No agents file has a model for node ${nodeId}; give one for its class in modelClasses.`;
  return { type: "failed", error: { code: "agent_not_configured", message, retryable: false } };
}

/** What a model says when it declines may quote the prompt, so it is left out. */
function errorOf({ scrubber }: AgentHost, answer: Exclude<AgentAnswer, { type: "completed" }>): RunError {
  if (answer.type === "refused") return { code: "agent_refused", message: "The model declined.", retryable: false };
  const { code, message, retryable } = answer.error;
  return { code, message: scrubber.scrubText(message), retryable };
}
