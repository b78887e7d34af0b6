import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { notStarted, type Program, StartedProgram } from "../../engine/programs/started-program.ts";
import { WATCHDOG } from "../../engine/programs/watchdog.ts";

export interface TransportLimits {
  readonly maxMessageBytes: number;
  /** The time to end after the end of its input, and again after a signal. */
  readonly endMs: number;
}

const NEW_LINE = 10;

/**
 * An MCP server that is a program, one line for each message. Unlike that of the SDK it leaves nothing behind that the program started, and
 * notices its end also while something of it holds the pipes.
 */
export class ProgramTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #program: Program;
  readonly #limits: TransportLimits;
  #started: StartedProgram | undefined;
  #closing: Promise<void> | undefined;
  #line: Buffer[] = [];
  #lineBytes = 0;

  constructor(program: Program, limits: TransportLimits) {
    this.#program = program;
    this.#limits = limits;
  }

  async start(): Promise<void> {
    const started = StartedProgram.start(this.#program, ["pipe", "pipe", "ignore"]);
    if (!(started instanceof StartedProgram)) throw new Error(started.problem);
    const { child } = started;
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new Error(notStarted(this.#program, error).problem)));
    });
    this.#started = started;
    if (child.pid !== undefined) WATCHDOG.watch(child.pid);
    child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    child.stdout?.on("error", () => {});
    void started.exited.then(() => {
      this.onclose?.();
      return this.close();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#started?.child.stdin;
    if (!stdin?.writable) throw new Error("it is not connected");
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((resolve) => {
      stdin.once("drain", resolve);
      stdin.once("close", resolve);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const started = this.#started;
    if (started === undefined) return;
    const { child } = started;
    child.stdin?.end();
    const { endMs } = this.#limits;
    const waited = new AbortController();
    await Promise.race([started.exited, sleep(endMs, undefined, { signal: waited.signal }).catch(() => {})]);
    waited.abort();
    await started.endAll(endMs);
    child.stdout?.destroy();
    if (child.pid !== undefined) WATCHDOG.forget(child.pid);
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      const line = Buffer.concat([...this.#line, chunk.subarray(from, end)]);
      this.#line = [];
      this.#lineBytes = 0;
      from = end + 1;
      this.#hear(line);
    }
    this.#line.push(chunk.subarray(from));
    this.#lineBytes += chunk.length - from;
    if (this.#lineBytes <= this.#limits.maxMessageBytes) return;
    this.#line = [];
    this.#lineBytes = 0;
    this.onerror?.(new Error(`a message is larger than ${this.#limits.maxMessageBytes} bytes`));
    void this.close();
  }

  /** Lines that are no messages are ignored; the others count. */
  #hear(line: Buffer): void {
    try {
      this.onmessage?.(JSON.parse(line.toString("utf8")) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
