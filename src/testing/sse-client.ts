import { type IncomingMessage, request } from "node:http";

export interface SseFrame {
  readonly id?: number;
  readonly event?: string;
  readonly data?: string;
  readonly comment?: string;
}

/** A reader of server-sent events that takes them at its own pace. */
export class SseClient {
  readonly response: IncomingMessage;
  readonly frames: SseFrame[] = [];
  readonly comments: string[] = [];
  /** How it ended: "end" as the server meant it, "cut" in the middle. */
  readonly closed: Promise<"end" | "cut">;
  #rest = "";
  #waiting: (() => void)[] = [];

  private constructor(response: IncomingMessage) {
    this.response = response;
    this.closed = new Promise((resolve) => {
      response.on("close", () => resolve(response.complete ? "end" : "cut"));
    });
    response.on("error", () => {});
  }

  /** Resolves with the headers. Nothing is read before `read`, unless told otherwise. */
  static async open(url: string, headers: Record<string, string> = {}, reading = true): Promise<SseClient> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, { headers: { accept: "text/event-stream", ...headers }, agent: false }, resolve)
        .on("error", reject)
        .end();
    });
    const client = new SseClient(response);
    if (reading) client.read();
    return client;
  }

  read(): this {
    this.response.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    return this;
  }

  disconnect(): void {
    this.response.destroy();
  }

  /** Resolves when the condition holds after some frame or comment. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  get ids(): number[] {
    return this.frames.map((frame) => frame.id ?? -1);
  }

  get text(): string {
    return this.#rest;
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith(":")) this.comments.push(block.slice(1));
      else this.frames.push(frameOf(block));
    }
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

function frameOf(block: string): SseFrame {
  const fields = Object.fromEntries(
    block.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  return { ...fields, ...(fields["id"] === undefined ? {} : { id: Number(fields["id"]) }) };
}
