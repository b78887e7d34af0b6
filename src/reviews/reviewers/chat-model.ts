export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface ChatAnswer {
  /** Empty when the model returned no text. */
  readonly text: string;
  /** Why it stopped: `stop`, `length`, `content-filter`, … */
  readonly finish: string;
}

/** A model that answers a chat with JSON. The wiring supplies it: this folder does not know how models are called. */
export interface ChatModel {
  /** Throws `model_failed`, in words that hold neither the key nor anything of what was sent or came back, or the reason of the signal. */
  complete(
    messages: readonly ChatMessage[],
    schema: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ChatAnswer>;
}

/** The settings of a model. Plain data, so that it can be passed to a thread; holds a key, so it is never shown. */
export interface ReviewerModel {
  readonly url: string;
  readonly model: string;
  readonly key?: string | undefined;
  /** The limit of one attempt, to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly attemptsMax: number;
}

export type ChatModelOf = (model: ReviewerModel) => ChatModel;
