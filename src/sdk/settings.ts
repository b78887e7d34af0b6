import type { AssayError } from "./errors.ts";
import type { ClientResponse } from "./response.ts";

/** What a client is made with. */
export interface ClientSettings {
  /** The address of the host, without `/v1`; a path before it stays. */
  readonly url: string;
  /** An API key. Without one, requests carry what the page has: its session. */
  readonly key?: string | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<ClientResponse>;
  /** How long to wait for an answer, and for the next bytes of it. 60,000. */
  readonly timeoutMs?: number;
  /** How often a request is repeated that may succeed later. 2. */
  readonly retries?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What is thrown in place of an error of this package, for programs with errors of their own. */
  readonly toError?: (error: AssayError) => Error;
}

/** What one call may say differently. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Made for each write when it is left out. The same key and body give the first answer again. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a call that has a body and takes query parameters too. */
export interface CallOptionsWith<Query> extends CallOptions {
  readonly query?: Query;
}

/** Options of a stream. */
export interface StreamOptions extends CallOptions {
  /** The id of the last frame that was seen: what came after it is sent. */
  readonly lastEventId?: string;
  /** How long a stream may be silent before it is opened anew; the server sends something every 15 s. 45,000. */
  readonly stallMs?: number;
  /** How long to try again once a stream has broken off. 60,000. */
  readonly patienceMs?: number;
  /** Called when a connection that had worked is gone and is tried again. */
  readonly onReconnect?: (error: Error) => void;
  /** Called with each id, also of frames that carry nothing else: where to resume from. */
  readonly onId?: (id: string) => void;
}
