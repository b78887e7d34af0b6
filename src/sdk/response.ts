/** What a client needs of a response: less than a `Response`, so that a host in the same process can answer without one. */
export interface ClientResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  /** Null where the answer came whole. */
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
  blob(): Promise<Blob>;
}

/** A response that was read to its end. */
export class WholeResponse implements ClientResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body = null;
  readonly #text: string;

  constructor({ ok, status, headers }: Pick<ClientResponse, "ok" | "status" | "headers">, text: string) {
    this.ok = ok;
    this.status = status;
    this.headers = headers;
    this.#text = text;
  }

  async text(): Promise<string> {
    return this.#text;
  }

  async blob(): Promise<Blob> {
    return new Blob([this.#text], { type: this.headers.get("content-type") ?? "" });
  }
}
