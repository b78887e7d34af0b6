import { compileSchema } from "../../engine/schemas/decide/json-schema.ts";
import { registeredSchema } from "../../engine/schemas/decide/schema-limits.ts";
import { checked } from "../../engine/schemas/schema-checks.ts";
import { scrubInTurns } from "../../engine/secrets/scrub-in-turns.ts";
import type { EffectContext, EffectNodeType, NodeOutcome } from "../../engine/worker/node-type.ts";
import { ENVELOPE_ATTEMPTS, type EnvelopeFlaw, TRUNCATION_BUDGET_MULTIPLIER } from "../../protocol/agents/events.ts";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { RunErrorCode } from "../../protocol/runs/run-errors.ts";
import { problemText, type Static, Type } from "../../protocol/schema.ts";
import type { AgentAnswer } from "../binding.ts";
import type { AgentHost } from "./ask-agent.ts";
import { EventAppender } from "./event-appender.ts";
import { ask, errorOf, open, PROMPT, type PromptDesk, type PromptResult, promptNode } from "./prompt-node.ts";

const Config = Type.Object(
  {
    ...PROMPT,
    outputSchema: Type.Record(Type.String(), Type.Unknown()),
    retryOnInvalidJson: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  },
  open,
);
type Config = Static<typeof Config>;

/**
 * Asks a model for a value of a given shape. What is not of that shape is asked for again, with what was wrong; what was cut off, with more
 * room and nothing else. A model that declines is not asked again: that would be a search for words that get around its refusal.
 */
export function structuredOutput(host: AgentHost, desk: () => PromptDesk): EffectNodeType {
  return {
    ...promptNode("core.ai.structuredOutput", Config),
    summary: "Asks a model for a value that a JSON Schema describes.",
    check: (config) => {
      registeredSchema((config as Config).outputSchema, "outputSchema");
      return undefined;
    },
    async execute(context): Promise<NodeOutcome> {
      const { outputSchema, retryOnInvalidJson = 0, maxTokens } = context.config as Config;
      const attempts = Math.max(ENVELOPE_ATTEMPTS, 1 + retryOnInvalidJson);
      const appender = new EventAppender(context);
      const about = { context, appender };
      let times = 1;
      let correction: string | undefined;
      let prose: Flaw | undefined;
      for (let attempt = 1; ; attempt++) {
        const result = await ask(host, desk(), context, {
          returnSchema: outputSchema,
          correction,
          outputBudget: { times, ...defined({ tokens: maxTokens }) },
        });
        const { answer } = result;
        if (answer.type === "refused") return declined(about, result);
        // A failed call for the form alone leaves the earlier answer in place.
        const flaw =
          (await checked(() => flawOf(answer, outputSchema))) ?? (answer.type === "failed" ? prose : undefined);
        if (answer.type === "failed" && flaw === undefined) return { type: "failed", error: errorOf(host, answer) };
        await reportAnswer(about, result, flaw);
        if (flaw === undefined) return given(host, answer);
        if (attempt < attempts) {
          await report(about, "envelope.retry.attempted", { attempt: attempt + 1, reason: flaw.reason });
        } else if (attempt === attempts && flaw.isProse) {
          prose = flaw;
          const originalEnvelopeType = nameOf(outputSchema);
          await report(about, "envelope.nlToFormat.engaged", { originalEnvelopeType, fallbackCalls: 1 });
        } else return exhausted(about, attempt, attempts, flaw);
        if (flaw.reason === "truncation") times *= TRUNCATION_BUDGET_MULTIPLIER;
        else correction = flaw.correction;
      }
    },
  };
}

interface About {
  readonly context: EffectContext;
  readonly appender: EventAppender;
}

interface Flaw {
  readonly reason: EnvelopeFlaw;
  /** Words without any JSON in them. */
  readonly isProse?: boolean;
  /** For the model alone. */
  readonly correction?: string;
}

const ONLY_JSON = "Your answer has to be one JSON value that is valid against the schema, without any word around it.";

function flawOf(answer: AgentAnswer, schema: Config["outputSchema"]): Flaw | undefined {
  if (answer.type === "failed") {
    const { code, instead } = answer.error;
    if (code === "agent_output_too_large" && instead === "cut-off") return { reason: "truncation" };
    if (code !== "agent_output_invalid") return undefined;
    return {
      reason: "parse-error",
      isProse: instead === "prose",
      correction: `${ONLY_JSON} The last one was no JSON.`,
    };
  }
  if (answer.type === "refused") return undefined;
  const [first] = compileSchema(schema, "outputSchema")(answer.output);
  if (first === undefined) return undefined;
  return { reason: "schema-violation", correction: `${ONLY_JSON} The last one was not: ${problemText(first)}` };
}

async function reportAnswer(
  about: About,
  { answer, usage, ...by }: PromptResult,
  flaw: Flaw | undefined,
): Promise<void> {
  if (answer.type === "completed" && answer.recovered !== undefined) {
    await report(about, "envelope.recovery.applied", { path: answer.recovered });
  }
  if (flaw?.reason !== "truncation") return;
  const outputTokenCount = usage.at(-1)?.outputTokens ?? null;
  const cut = { ...by, stopReason: "max_tokens", partialPayloadAvailable: false, outputTokenCount };
  await report(about, "envelope.truncated", cut);
}

async function given({ scrubber }: AgentHost, answer: AgentAnswer): Promise<NodeOutcome> {
  const output = await scrubInTurns(scrubber, "output" in answer ? answer.output : null);
  return { type: "completed", outputs: { output } };
}

async function declined(about: About, { answer: _, usage: __, ...by }: PromptResult): Promise<NodeOutcome> {
  await report(about, "envelope.refusal", { ...by, refusalText: null });
  return failed("envelope_refusal", "The model declined.");
}

async function exhausted(about: About, totalAttempts: number, limit: number, { reason }: Flaw): Promise<NodeOutcome> {
  await report(about, "envelope.retry.exhausted", { totalAttempts, finalReason: reason });
  await report(about, "cap.breached", { kind: "schema", limit, observed: totalAttempts });
  const { id } = about.context.node;
  return reason === "truncation"
    ? failed("envelope_truncation_unrecoverable", `What the model of node ${id} answered was cut off each time.`)
    : failed("envelope_payload_invalid", `What the model of node ${id} answered is not as its schema has it.`);
}

async function report({ context, appender }: About, type: EventDraft["type"], payload: object): Promise<void> {
  const nodeId = context.node.id;
  appender.append({ type, nodeId, payload: { nodeId, ...payload } } as EventDraft);
  await appender.flushed();
}

function failed(code: RunErrorCode, message: string): NodeOutcome {
  return { type: "failed", error: { code, message, retryable: false } };
}

const NAME_MOST = 256;

function nameOf({ title, $id }: Config["outputSchema"]): string {
  const name = [title, $id].find((one) => typeof one === "string" && one !== "");
  return typeof name === "string" ? name.slice(0, NAME_MOST) : "structured-output";
}
