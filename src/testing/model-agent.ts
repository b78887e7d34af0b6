import { afterEach, beforeEach } from "vitest";
import type { AgentAnswer, AgentTask, Binding } from "../agents/binding.ts";
import { type ModelBindingSettings, modelBinding } from "../agents/bindings/model.ts";
import { MODEL_DEFAULTS } from "../agents/models/model-settings.ts";
import { type Watched, watched } from "./agent-task.ts";
import { type ModelReply, ModelServer } from "./model-server.ts";
import { chatStream, type SaidTurn } from "./model-streams.ts";

export const MODEL_KEY = "sk-not-for-anybody-else";

/** An agent that is a model, at a server of its own for each test of the file. It does not wait between attempts. */
export class ModelAgent {
  #server: ModelServer | undefined;
  /** How long it would have waited. */
  waited: number[] = [];

  constructor() {
    beforeEach(async () => {
      this.waited = [];
      this.#server = await ModelServer.start(() => chatStream({ text: ["fine"] }));
    });
    afterEach(() => this.#server?.close());
  }

  get server(): ModelServer {
    if (this.#server === undefined) throw new Error("no test is running");
    return this.#server;
  }

  binding(settings: Partial<ModelBindingSettings> = {}): Binding {
    return modelBinding(
      {
        ...MODEL_DEFAULTS,
        provider: "openai-compatible",
        providerName: "local",
        baseUrl: this.server.url,
        model: "m",
        key: MODEL_KEY,
        format: "json",
        maxTurns: 4,
        ...settings,
      },
      [{ "local/m": { input: 1, output: 10 }, "local/free": { input: 0, output: 0 } }],
      { now: () => 0, chance: () => 0, wait: async (ms) => void this.waited.push(ms) },
    );
  }

  ask(settings: Partial<ModelBindingSettings> = {}, task: Partial<AgentTask> = {}): Promise<Watched> {
    return watched(this.binding(settings), task);
  }

  /** From now on; the last one again and again. */
  inTurn(...replies: (ModelReply | SaidTurn)[]): void {
    const before = this.server.calls.length;
    this.server.behave((_, calls) => {
      const reply = replies[Math.min(calls.length - before, replies.length) - 1] ?? {};
      return "type" in reply ? reply : chatStream(reply);
    });
  }

  async answerTo(
    reply: ModelReply | SaidTurn,
    settings: Partial<ModelBindingSettings> = {},
    task: Partial<AgentTask> = {},
  ): Promise<AgentAnswer> {
    this.inTurn(reply);
    return (await this.ask(settings, task)).answer;
  }
}
