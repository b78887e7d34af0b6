import type { Ending } from "../../formats/reviews/outcome.ts";

/** Takes one request to a provider and brings back its stream: a command, or a server. */
export interface Carrier {
  send(request: Sending): Promise<Sent>;
}

export interface Sending {
  /** One line of JSON. */
  readonly line: string;
  readonly session: string | undefined;
  /** The file that the stream is written to as it arrives. */
  readonly streamPath: string;
  readonly watch: StreamWatch;
  /** Aborted when the caller wants to stop: everything started is ended, and the reason is thrown. */
  readonly signal: AbortSignal;
  /** Called once a process runs for this request, so that it can be ended after a crash. */
  readonly onStarted?: (pid: number) => void;
}

/** Follows the stream while it grows. */
export interface StreamWatch {
  take(bytes: Uint8Array): void;
  readonly lines: number;
  /** The answer has arrived; the program has little time to end. */
  readonly answered: boolean;
}

export type Sent =
  | ({ readonly started: true } & Ending)
  | { readonly started: false; readonly name: string; readonly message: string };

export interface Limits {
  readonly timeMs: number;
  readonly bytes: number;
  readonly lines: number;
  /** The time for a command to end after its answer. */
  readonly graceMs: number;
  /** The time between the signal to end and the kill. */
  readonly killMs: number;
}
