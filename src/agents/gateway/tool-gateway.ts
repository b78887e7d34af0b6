import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { GrowingBytes } from "../../formats/text/byte-chunks.ts";
import type { AgentAnswer, AgentTask } from "../binding.ts";
import { failed } from "../bindings/answers.ts";
import type { ToolSurface } from "../tool-surface.ts";
import { answerRequest, type GatewayAnswer, type GatewayRequest, refusal } from "./gateway-answer.ts";
import { type OfferLimits, ToolOffer, tokenDigest } from "./tool-offer.ts";

export interface GatewaySettings extends OfferLimits {
  /** 0: any free one. */
  readonly port: number;
  /** The base URL for agents on other machines; absent: they cannot be offered the gateway. */
  readonly remoteUrl?: string;
  readonly maxBodyBytes: number;
  /** The time limit for a request to arrive. */
  readonly requestMs: number;
}

const GATEWAY_DEFAULTS: GatewaySettings = {
  port: 0,
  maxBodyBytes: 1024 * 1024,
  requestMs: 30_000,
  concurrentMax: 16,
  callsMax: 1000,
};

/** The address of the tools of one invocation, and the token for them. */
export interface OfferedTools {
  readonly url: string;
  readonly token: string;
  /** Makes the token void and breaks off what is under way. */
  withdraw(): Promise<void>;
}

/** Tools and memory for agents that are programs or endpoints: one HTTP server on loopback for all invocations of the process. */
export interface ToolGateway {
  /** Why an agent at this address cannot reach the gateway; undefined where it can. */
  problemFor(agentUrl: string): string | undefined;
  /** Offers the tools of one invocation: to a program of this machine, or to the agent at the URL. Starts the server when it has to. */
  offer(tools: ToolSurface, signal: AbortSignal, agentUrl?: string): Promise<OfferedTools>;
  close(): Promise<void>;
}

export function toolGateway(given: Partial<GatewaySettings> = {}): ToolGateway {
  const settings: GatewaySettings = { ...GATEWAY_DEFAULTS, ...given };
  const offers = new Map<string, ToolOffer>();
  let listening: Promise<Server> | undefined;
  const start = () => {
    listening ??= listen(settings, offers).catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  };
  return {
    problemFor: (agentUrl) =>
      settings.remoteUrl !== undefined || isLoopback(agentUrl)
        ? undefined
        : "the tool gateway listens on this machine only; set --tools-url to the address under which the agent reaches it",
    async offer(tools, signal, agentUrl) {
      const server = await start();
      const offer = new ToolOffer(tools, signal, settings);
      const digest = tokenDigest(offer.token);
      offers.set(digest, offer);
      const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const isLocal = agentUrl === undefined || isLoopback(agentUrl);
      return {
        url: isLocal ? local : (settings.remoteUrl ?? local),
        token: offer.token,
        async withdraw() {
          offers.delete(digest);
          await offer.end();
        },
      };
    },
    async close() {
      const server = await listening?.catch(() => undefined);
      listening = undefined;
      for (const offer of offers.values()) await offer.end();
      offers.clear();
      if (server === undefined) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(settings: GatewaySettings, offers: ReadonlyMap<string, ToolOffer>): Promise<Server> {
  const server = createServer((request, response) => void serve(request, response, settings, offers));
  server.requestTimeout = settings.requestMs;
  server.headersTimeout = settings.requestMs;
  // A process that has nothing else to do may end.
  server.unref();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(settings.port, "127.0.0.1", () => resolve(server));
  });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  settings: GatewaySettings,
  offers: ReadonlyMap<string, ToolOffer>,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new Error("The caller went away."));
  });
  let answer: GatewayAnswer;
  try {
    const offer = offers.get(tokenDigest(bearerToken(request)));
    answer =
      offer === undefined ? UNAUTHENTICATED : await answerRequest(offer, requestOf(request, settings, gone.signal));
  } catch {
    answer = refusal(500, "internal_error", "The request could not be answered; try again.");
  }
  write(response, answer);
}

const UNAUTHENTICATED: GatewayAnswer = {
  ...refusal(
    401,
    "unauthenticated",
    "Send the token of this invocation as Authorization: Bearer; it ends with the invocation.",
  ),
  headers: { "www-authenticate": "Bearer" },
};

function bearerToken({ headers }: IncomingMessage): string {
  return /^Bearer +([\w-]+) *$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

function requestOf(request: IncomingMessage, settings: GatewaySettings, signal: AbortSignal): GatewayRequest {
  const [path = ""] = (request.url ?? "").split("?");
  const { accept = "", "content-type": contentType = "", "mcp-protocol-version": version } = request.headers;
  return {
    method: request.method ?? "",
    resource: path.split("/").at(-1) ?? "",
    headers: {
      accept,
      "content-type": contentType,
      ...(typeof version === "string" ? { "mcp-protocol-version": version } : {}),
    },
    body: () => readBody(request, settings.maxBodyBytes),
    signal,
  };
}

/** A body that is too large is read to its end and dropped: a caller that is still sending would not see the answer. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const body = new GrowingBytes(maxBytes);
  let isTooLarge = false;
  for await (const piece of request as AsyncIterable<Buffer>) {
    isTooLarge ||= body.size + piece.length > maxBytes;
    if (!isTooLarge) body.add(piece);
  }
  return isTooLarge ? undefined : body.bytes.toString("utf8");
}

function write(response: ServerResponse, { status, body, headers }: GatewayAnswer): void {
  if (response.destroyed) return;
  const type = body === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
  response.writeHead(status, { "cache-control": "no-store", ...type, ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/** Whether a URL names this machine by what is written there. A name that merely resolves to it does not count. */
function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.[\d.]+$/.test(hostname)
  );
}

/** The address of an agent's tools; undefined where it has none. */
export type ToolAccess = Pick<OfferedTools, "url" | "token"> | undefined;

/** Why an agent cannot be offered tools, in a binding's `noTools`; nothing where it can. Without a gateway no fixture reaches it. */
export function toolsProblem(gateway: ToolGateway | undefined, agentUrl?: string): { readonly noTools?: string } {
  if (gateway === undefined) return { noTools: "there is no tool gateway in this process" };
  const problem = agentUrl === undefined ? undefined : gateway.problemFor(agentUrl);
  return problem === undefined ? {} : { noTools: problem };
}

/** Calls an agent while the tools of its task are offered to it; they are withdrawn however the call ends. */
export async function withTools(
  gateway: ToolGateway | undefined,
  { tools, signal }: Pick<AgentTask, "tools" | "signal">,
  call: (access: ToolAccess) => Promise<AgentAnswer>,
  agentUrl?: string,
): Promise<AgentAnswer> {
  if (gateway === undefined || toolsProblem(gateway, agentUrl).noTools !== undefined) return call(undefined);
  let offered: OfferedTools;
  try {
    offered = await gateway.offer(tools, signal, agentUrl);
  } catch (error) {
    // Agents without tools do not need the gateway, whose port may be taken by another process.
    if (tools.tools.length === 0) return call(undefined);
    return failed("agent_not_configured", `the tool gateway cannot be started: ${(error as Error).message}`);
  }
  try {
    return await call(offered);
  } finally {
    await offered.withdraw();
  }
}
