import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface ModelMessage {
  readonly role: string;
  readonly content: unknown;
}

/** A call as it arrived. */
export interface ModelCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ModelMessage[];
  /** The texts of its system messages, joined. */
  readonly system: string;
  /** The text of the last message of the user. */
  readonly user: string;
}

/** What a model server may do with a call. */
export type ModelReply =
  | { readonly type: "text"; readonly text: string; readonly finish?: string; readonly usage?: ModelUsage }
  | { readonly type: "tool"; readonly name: string; readonly arguments: string }
  | {
      readonly type: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** 200 with whatever body. */
  | { readonly type: "raw"; readonly body: string; readonly contentType?: string }
  /** Begins to answer and breaks off. */
  | { readonly type: "cut"; readonly text: string }
  /** Closes the connection before any answer. */
  | { readonly type: "drop" }
  /** Takes the call and never answers. */
  | { readonly type: "silence" }
  /** Begins an answer that never ends. */
  | { readonly type: "flood"; readonly chunk: string; readonly status?: number };

export interface ModelUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export type ModelScript = (call: ModelCall, calls: readonly ModelCall[]) => ModelReply;

const USAGE: ModelUsage = { prompt_tokens: 120, completion_tokens: 80 };

/** A model server on loopback that says what its script says, in the chat-completions format, in one piece or streamed. */
export class ModelServer {
  readonly calls: ModelCall[] = [];
  /** For `baseURL`. */
  readonly url: string;
  readonly #close: () => Promise<void>;
  #script: ModelScript;
  #told: () => void = () => {};
  #hungUp = 0;

  private constructor(script: ModelScript, port: number, close: () => Promise<void>) {
    this.#script = script;
    this.url = `http://127.0.0.1:${port}/v1`;
    this.#close = close;
  }

  static async start(script: ModelScript): Promise<ModelServer> {
    let model: ModelServer | undefined;
    const server = createServer((request, response) => void model?.take(request, response));
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    model = new ModelServer(script, (server.address() as AddressInfo).port, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return model;
  }

  /** From now on. */
  behave(script: ModelScript): void {
    this.#script = script;
  }

  /** Resolves as soon as there were this many calls; the test's own timeout bounds the wait. */
  async called(count: number): Promise<void> {
    while (this.calls.length < count) await new Promise<void>((resolve) => (this.#told = resolve));
  }

  /** Resolves as soon as this many callers went away before they were answered. */
  async hungUp(count: number): Promise<void> {
    while (this.#hungUp < count) await new Promise<void>((resolve) => (this.#told = resolve));
  }

  close(): Promise<void> {
    return this.#close();
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await callFrom(request);
    response.once("close", () => {
      if (response.writableFinished) return;
      this.#hungUp++;
      this.#told();
    });
    this.calls.push(call);
    this.#told();
    reply(response, call, this.#script(call, this.calls));
  }
}

async function callFrom(request: IncomingMessage): Promise<ModelCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as Record<string, unknown>;
  const messages = (body["messages"] ?? []) as ModelMessage[];
  const said = (role: string) => messages.filter((one) => one.role === role).map(({ content }) => textOf(content));
  return {
    path: request.url ?? "",
    headers: request.headers as Record<string, string | undefined>,
    body,
    model: String(body["model"]),
    stream: body["stream"] === true,
    messages,
    system: said("system").join("\n"),
    user: said("user").at(-1) ?? "",
  };
}

/** Content is a text, or a list of parts of which some are text. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

function reply(response: ServerResponse, call: ModelCall, answer: ModelReply): void {
  switch (answer.type) {
    case "status":
      response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
      response.end(answer.body ?? JSON.stringify({ error: { message: `scripted ${answer.status}` } }));
      return;
    case "raw":
      response.writeHead(200, { "content-type": answer.contentType ?? "application/json" }).end(answer.body);
      return;
    case "drop":
      response.socket?.destroy();
      return;
    case "silence":
      return;
    case "cut":
      breakOff(response, call, answer.text);
      return;
    case "flood":
      flood(response, answer.chunk, answer.status ?? 200);
      return;
    case "text":
    case "tool":
      if (call.stream) streamed(response, call, answer);
      else whole(response, call, answer);
  }
}

type Said = Extract<ModelReply, { type: "text" | "tool" }>;

function whole(response: ServerResponse, call: ModelCall, answer: Said): void {
  const message = { role: "assistant", ...contentOf(answer) };
  const body = {
    ...frame(call, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
    usage: usageOf(answer),
  };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function streamed(response: ServerResponse, call: ModelCall, answer: Said): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const half = answer.type === "text" ? Math.ceil(answer.text.length / 2) : 0;
  const deltas =
    answer.type === "text"
      ? [answer.text.slice(0, half), answer.text.slice(half)].map((content) => ({ content }))
      : [contentOf(answer)];
  const chunk = (delta: object, finish: string | null, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({
        ...frame(call, "chat.completion.chunk"),
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...more,
      })}\n\n`,
    );
  chunk({ role: "assistant", content: "" }, null);
  for (const delta of deltas) chunk(delta, null);
  chunk({}, finishOf(answer), { usage: usageOf(answer) });
  response.end("data: [DONE]\n\n");
}

function contentOf(answer: Said): object {
  if (answer.type === "text") return { content: answer.text };
  const call = { name: answer.name, arguments: answer.arguments };
  return { content: null, tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] };
}

function finishOf(answer: Said): string {
  if (answer.type === "tool") return "tool_calls";
  return answer.finish ?? "stop";
}

function usageOf(answer: Said): object {
  const { prompt_tokens, completion_tokens } = (answer.type === "text" ? answer.usage : undefined) ?? USAGE;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function frame(call: ModelCall, object: string): object {
  return { id: "chatcmpl-scripted", object, created: 1_700_000_000, model: call.model };
}

function breakOff(response: ServerResponse, call: ModelCall, text: string): void {
  const begun = call.stream
    ? `data: ${JSON.stringify({ ...frame(call, "chat.completion.chunk"), choices: [{ index: 0, delta: { content: text } }] })}\n\n`
    : `{"choices":[{"message":{"content":${JSON.stringify(text).slice(0, -1)}`;
  response.writeHead(200, { "content-type": call.stream ? "text/event-stream" : "application/json" });
  response.write(begun, () => response.socket?.destroy());
}

/** For as long as the other side takes it. */
function flood(response: ServerResponse, chunk: string, status: number): void {
  response.writeHead(status, { "content-type": "application/json" });
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", pour);
  pour();
}
