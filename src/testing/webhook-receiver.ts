import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from "./test-certificate.ts";

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** The name the client asked for in the TLS handshake. */
  readonly serverName: string | undefined;
}

/** A status, or whatever else a server may do with a request. */
export type Behaviour = number | ((response: ServerResponse, received: Received) => void);

/** Takes deliveries over real HTTP or HTTPS on loopback and answers 200 until told otherwise. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  readonly port: number;
  #behaviour: Behaviour = 200;
  #told: () => void = () => {};
  #connections = 0;
  readonly #scheme: string;
  readonly #close: () => Promise<void>;

  private constructor(scheme: string, port: number, close: () => Promise<void>) {
    this.#scheme = scheme;
    this.port = port;
    this.#close = close;
  }

  static async start(scheme: "http" | "https" = "http"): Promise<WebhookReceiver> {
    let receiver: WebhookReceiver | undefined;
    const listener: RequestListener = (request, response) => void receiver?.take(request, response);
    const identity = { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY };
    const server = scheme === "https" ? createTlsServer(identity, listener) : createServer(listener);
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      if (receiver !== undefined) receiver.#connections += 1;
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    receiver = new WebhookReceiver(scheme, (server.address() as AddressInfo).port, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return receiver;
  }

  /** Connections that were ever opened to it. */
  get connections(): number {
    return this.#connections;
  }

  url(path = "/hook", hostname = "127.0.0.1"): string {
    return `${this.#scheme}://${hostname}:${this.port}${path}`;
  }

  /** From now on. */
  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
  }

  /** Resolves with all that arrived as soon as there are this many; the test's own timeout bounds the wait. */
  async got(count: number): Promise<readonly Received[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => (this.#told = resolve));
    return this.received;
  }

  close(): Promise<void> {
    return this.#close();
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { servername } = request.socket as TLSSocket;
    const received: Received = {
      path: request.url ?? "",
      headers: request.headers as Record<string, string | undefined>,
      body,
      serverName: typeof servername === "string" ? servername : undefined,
    };
    this.received.push(received);
    const behaviour = this.#behaviour;
    if (typeof behaviour === "number") response.writeHead(behaviour).end();
    else behaviour(response, received);
    this.#told();
  }
}

/** What a receiver that knows the secret computes for itself. */
export function expectedSignature(secret: string, { headers, body }: Received): string {
  const timestamp = headers["x-openwop-timestamp"];
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}
