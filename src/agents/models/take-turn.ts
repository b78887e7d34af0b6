import { jsonSchema, type ModelMessage, Output, streamText, type TextStreamPart, type ToolSet, tool } from "ai";
import { defined } from "../../protocol/defined.ts";
import type { Usage, Watcher } from "../binding.ts";
import type { ToolDescriptor } from "../tool-surface.ts";
import { boundedFetch, type Carried } from "./bounded-fetch.ts";
import { languageModel, providerOptions } from "./language-model.ts";
import { BROKE_OFF, type ModelProblem, NO_STREAM, problemFrom, tooLarge } from "./model-problem.ts";
import type { Format, ModelSettings } from "./model-settings.ts";
import { type PriceTable, usageOf } from "./prices.ts";

export interface TurnRequest {
  readonly system?: string | undefined;
  readonly messages: readonly ModelMessage[];
  /** Tools under names that models accept. */
  readonly tools: ReadonlyMap<string, ToolDescriptor>;
  readonly format: Format;
  /** JSON Schema of an object; without it the model answers with any text. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** Overrides the limit of the settings. */
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** Set where the arguments are not JSON. */
  readonly isUnreadable: boolean;
}

export interface Turn {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: string;
  readonly usage?: Usage | undefined;
  /** Messages for the next turn, with the parts that the provider needs back. */
  readonly replies: readonly ModelMessage[];
}

export type TakenTurn = { readonly turn: Turn } | { readonly problem: ModelProblem };

export type TurnWatcher = Pick<Watcher, "chunk" | "reasoning">;

/** A streamed token takes some hundred bytes on the wire. */
const WIRE_FACTOR = 64;
const WIRE_BYTES = 1024 * 1024;

// Warnings of the package would go to the console of the embedding program.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** Asks a model once and reports its output as it arrives. Rejects when the signal is aborted, and for nothing else. */
export async function takeTurn(
  settings: ModelSettings,
  request: TurnRequest,
  prices: readonly PriceTable[],
  watcher: TurnWatcher,
  signal: AbortSignal,
): Promise<TakenTurn> {
  const { maxOutputBytes } = settings;
  const carried: Carried = { tooLarge: false, answer: "none" };
  const stop = new AbortController();
  const fetch = boundedFetch(maxOutputBytes * WIRE_FACTOR + WIRE_BYTES, carried);
  try {
    const result = streamText({
      ...settingsOf(settings, request),
      model: await languageModel(settings, fetch),
      abortSignal: AbortSignal.any([signal, stop.signal]),
    });
    const reader = new TurnReader(maxOutputBytes, watcher);
    for await (const part of readOnce(result)) {
      signal.throwIfAborted();
      if (part.type === "error") return { problem: problemFrom(part.error, carried, settings) };
      if (part.type === "abort") break;
      if (!reader.take(part)) return { problem: tooLarge(maxOutputBytes) };
    }
    signal.throwIfAborted();
    const { finish } = reader;
    if (carried.answer !== "stream") return { problem: NO_STREAM };
    // A stream that stops without an end marker has this finish reason.
    const isUnfinished = finish?.reason === "other" && finish.raw === undefined;
    if (finish === undefined || isUnfinished) return { problem: BROKE_OFF };
    const { messages } = await result.response;
    const { text, refusal, calls } = reader;
    const turn = {
      text: refusal === "" ? text : refusal,
      calls,
      finish: refusal === "" ? finish.reason : "content-filter",
      usage: usageOf(settings, finish.usage, prices),
      replies: messages.filter(({ role }) => role === "assistant"),
    };
    return { turn };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: problemFrom(error, carried, settings) };
  } finally {
    // The rest of the answer is not awaited.
    stop.abort();
  }
}

/**
 * The parts of an answer, read here and by no other. The library keeps a copy of each for further readers, in a queue that grows with the
 * answer and costs the square of its length to go through; a reader that gives up gets none. What the library gathers of the whole answer
 * stays.
 */
function readOnce(result: { readonly fullStream: AsyncIterable<TextStreamPart<ToolSet>> }) {
  const parts = result.fullStream;
  const { baseStream } = result as { readonly baseStream?: ReadableStream };
  void baseStream?.cancel().catch(() => {});
  return parts;
}

function settingsOf(settings: ModelSettings, request: TurnRequest) {
  const { system, messages, tools, format, schema } = request;
  const { seed } = settings;
  const temperature = request.temperature ?? settings.temperature;
  const maxOutputTokens = request.maxOutputTokens ?? settings.maxOutputTokens;
  const asked = schema === undefined || format === "words" ? undefined : schema;
  return {
    messages: [...messages],
    providerOptions: providerOptions(settings) as Record<string, Record<string, never>>,
    ...defined({ system }),
    ...(tools.size === 0 ? {} : { tools: toolSet(tools) }),
    ...(asked === undefined ? {} : { output: outputOf(format, asked) }),
    ...defined({ temperature, maxOutputTokens, seed }),
    // Attempts are ours to count, and to wait between.
    maxRetries: 0,
    includeRawChunks: true,
    // Errors are read from the stream; without this they are also written to the console.
    onError: () => {},
  };
}

/**
 * The format to ask for. Partial answers are passed on as text: the library would parse the whole answer again with each piece of it, work
 * that grows with the square of the answer, and keep every partial value.
 */
function outputOf(format: Format, schema: Readonly<Record<string, unknown>>) {
  const output = format === "schema" ? Output.object({ schema: jsonSchema(schema) }) : Output.json();
  return { ...output, parsePartialOutput: async ({ text }: { text: string }) => ({ partial: text }) };
}

/** Tools without an implementation: the package returns their calls. */
function toolSet(tools: ReadonlyMap<string, ToolDescriptor>): ToolSet {
  return Object.fromEntries(
    [...tools].map(([name, { description, inputSchema = { type: "object" } }]) => [
      name,
      tool({ inputSchema: jsonSchema(inputSchema), ...defined({ description }) }),
    ]),
  );
}

class TurnReader {
  text = "";
  refusal = "";
  readonly calls: ToolCall[] = [];
  finish: { reason: string; raw: string | undefined; usage: Parameters<typeof usageOf>[1] } | undefined;
  #left: number;
  readonly #watcher: TurnWatcher;

  constructor(maxBytes: number, watcher: TurnWatcher) {
    this.#left = maxBytes;
    this.#watcher = watcher;
  }

  /** False when there is more of it than may be. */
  take(part: TextStreamPart<ToolSet>): boolean {
    switch (part.type) {
      case "text-delta":
        if (!this.#fits(part.text)) return false;
        this.text += part.text;
        if (part.text !== "") this.#watcher.chunk(part.text);
        return true;
      case "reasoning-delta":
        if (!this.#fits(part.text)) return false;
        if (part.text !== "") this.#watcher.reasoning(part.text);
        return true;
      case "tool-input-delta":
        return this.#fits(part.delta);
      case "tool-call": {
        const isUnreadable = part.invalid === true && typeof part.input === "string";
        this.calls.push({ id: part.toolCallId, name: part.toolName, args: part.input, isUnreadable });
        return true;
      }
      case "raw": {
        this.refusal += refusalIn(part.rawValue);
        return true;
      }
      case "finish-step":
        this.finish = { reason: part.finishReason, raw: part.rawFinishReason, usage: part.usage };
        return true;
      default:
        return true;
    }
  }

  #fits(text: string): boolean {
    this.#left -= Buffer.byteLength(text);
    return this.#left >= 0;
  }
}

/** The refusal of the chat format; the package for compatible servers leaves it out. */
function refusalIn(raw: unknown): string {
  const choices = (raw as { choices?: unknown } | null)?.choices;
  const [choice] = Array.isArray(choices) ? (choices as { delta?: { refusal?: unknown } | null }[]) : [];
  const refusal = choice?.delta?.refusal;
  return typeof refusal === "string" ? refusal : "";
}
