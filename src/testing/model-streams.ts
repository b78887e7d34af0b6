import type { ModelReply } from "./model-server.ts";

/** What a model says in one turn; each wire has its own way to say it. */
export interface SaidTurn {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly refusal?: string;
  readonly calls?: readonly { readonly name: string; readonly args: string }[];
  readonly finish?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedTokens?: number;
  /** The server does not say what it used. */
  readonly unmetered?: true;
}

const stream = (body: string): ModelReply => ({ type: "raw", body, contentType: "text/event-stream" });

/** Of chat completions. */
export function chatStream(said: SaidTurn): ModelReply {
  const { reasoning = [], text = [], calls = [], refusal, unmetered } = said;
  const deltas = [
    { role: "assistant", content: "" },
    ...reasoning.map((delta) => ({ reasoning_content: delta })),
    ...text.map((content) => ({ content })),
    ...(refusal === undefined ? [] : [{ refusal }]),
    ...calls.flatMap(({ name, args }, index) => [
      { tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: "" } }] },
      ...[args.slice(0, 3), args.slice(3)].map((part) => ({
        tool_calls: [{ index, function: { arguments: part } }],
      })),
    ]),
  ];
  const frame = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "m" };
  const finish_reason = said.finish ?? (calls.length > 0 ? "tool_calls" : "stop");
  const { inputTokens = 100, outputTokens = 20, cachedTokens = 0 } = said;
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
  const chunks = [
    ...deltas.map((delta) => ({ ...frame, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...frame, choices: [{ index: 0, delta: {}, finish_reason }] },
    ...(unmetered ? [] : [{ ...frame, choices: [], usage }]),
  ];
  return stream(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
}

/** Of Anthropic's messages. */
export function messagesStream(said: SaidTurn): ModelReply {
  const { reasoning = [], text = [], calls = [], inputTokens = 100, outputTokens = 20, cachedTokens = 0 } = said;
  const blocks = [
    {
      start: { type: "thinking", thinking: "" },
      deltas: reasoning.map((thinking) => ({ type: "thinking_delta", thinking })),
    },
    { start: { type: "text", text: "" }, deltas: text.map((part) => ({ type: "text_delta", text: part })) },
    ...calls.map(({ name, args }, i) => ({
      start: { type: "tool_use", id: `toolu_${i}`, name, input: {} },
      deltas: [args.slice(0, 3), args.slice(3)].map((partial_json) => ({ type: "input_json_delta", partial_json })),
    })),
  ].filter(({ deltas }) => deltas.length > 0);
  const usage = {
    input_tokens: inputTokens - cachedTokens,
    output_tokens: 1,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: 0,
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  const stop_reason = said.finish ?? (calls.length > 0 ? "tool_use" : "end_turn");
  const events = [
    { type: "message_start", message },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: outputTokens } },
    { type: "message_stop" },
  ];
  return stream(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}

/** Of OpenAI's responses. */
export function responsesStream(said: SaidTurn): ModelReply {
  const { text = [], calls = [], inputTokens = 100, outputTokens = 20, cachedTokens = 0 } = said;
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const spoken =
    text.length === 0
      ? []
      : [
          { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
          ...text.map((delta) => ({
            type: "response.output_text.delta",
            item_id: "msg_1",
            output_index: 0,
            content_index: 0,
            delta,
          })),
          {
            type: "response.output_item.done",
            output_index: 0,
            item: { ...item, content: [{ type: "output_text", text: text.join(""), annotations: [] }] },
          },
        ];
  const asked = calls.flatMap(({ name, args }, i) => {
    const call = { type: "function_call", id: `fc_${i}`, call_id: `call_${i}`, name };
    const place = { item_id: call.id, output_index: i + 1 };
    return [
      { type: "response.output_item.added", ...place, item: { ...call, arguments: "", status: "in_progress" } },
      { type: "response.function_call_arguments.delta", ...place, delta: args },
      { type: "response.output_item.done", ...place, item: { ...call, arguments: args, status: "completed" } },
    ];
  });
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
  const response = { id: "resp_1", object: "response", created_at: 1_700_000_000, model: "m", output: [] };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    ...spoken,
    ...asked,
    { type: "response.completed", response: { ...response, status: "completed", usage } },
  ];
  return stream(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}
