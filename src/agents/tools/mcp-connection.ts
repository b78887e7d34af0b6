import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { programEnvironment } from "../../engine/programs/child-environment.ts";
import { defined } from "../../protocol/defined.ts";
import type { McpServer } from "../bindings/agents-file-schema.ts";
import { limitedBytes, littleByLittle } from "../models/bounded-fetch.ts";
import { BoundedTransport } from "./bounded-transport.ts";
import { toolResults } from "./mcp-results.ts";
import { ProgramTransport } from "./program-transport.ts";

export interface McpWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The directory in which programs are started. */
  readonly directory: string;
  readonly scrubText: (text: string) => string;
  readonly version: string;
}

export interface McpSettings {
  /** The time limit for a server to list its tools. */
  readonly connectMs: number;
  readonly callMs: number;
  /** A server without a call for this long is disconnected. */
  readonly idleMs: number;
  readonly maxResultBytes: number;
  readonly maxMessageBytes: number;
  /** The time for a program to end by itself, and again after a signal. */
  readonly endMs: number;
}

export const MCP_DEFAULTS: McpSettings = {
  connectMs: 15_000,
  callMs: 60_000,
  idleMs: 300_000,
  maxResultBytes: 262_144,
  maxMessageBytes: 10_485_760,
  endMs: 2_000,
};

export interface Connected {
  readonly client: Client;
  readonly tools: readonly OfferedTool[];
  close(): Promise<void>;
}

export interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Rejects when the server cannot be reached, or does not say in time what it offers; nothing of it is left then. */
export async function connect(
  server: McpServer,
  world: McpWorld,
  settings: McpSettings,
  lost: () => void,
): Promise<Connected> {
  // Loaded with the first connection: most of what Assay does needs none of it.
  const { Client: McpClient } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new McpClient({ name: "assay", version: world.version }, { jsonSchemaValidator: toolResults });
  const transport = new BoundedTransport(await transportOf(server, world, settings));
  const close = async () => {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
  };
  client.onclose = lost;
  client.onerror = () => {};
  const options = { timeout: settings.connectMs };
  try {
    await client.connect(transport, options);
    return { client, close, tools: await offered(client, options) };
  } catch (error) {
    await close();
    throw new Error(`MCP server ${server.name}: ${reasonOf(error, world.scrubText)}`);
  }
}

const REASON_MOST = 500;
const SCRUBBED_MOST = 8_192;

/** The beginning of a reason, without secrets. A long one is cut between two words before it is gone through. */
export function reasonOf(error: unknown, scrubText: (text: string) => string): string {
  const { message } = error as Error;
  const cut = message.length <= SCRUBBED_MOST ? message.length : message.lastIndexOf(" ", SCRUBBED_MOST);
  return scrubText(message.slice(0, Math.max(0, cut))).slice(0, REASON_MOST);
}

async function transportOf(server: McpServer, world: McpWorld, settings: McpSettings): Promise<Transport> {
  const { command, args = [], env = {}, url, apiKeyEnv } = server;
  const { maxMessageBytes, endMs } = settings;
  if (url === undefined) {
    const seen = programEnvironment(world.environment, env);
    if ("missing" in seen) throw new Error(`MCP server ${server.name}: ${seen.missing} is not set`);
    const program = { program: command ?? "", args, directory: world.directory, environment: seen.variables };
    return new ProgramTransport(program, { maxMessageBytes, endMs });
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const key = apiKeyEnv === undefined ? undefined : world.environment[apiKeyEnv];
  if (apiKeyEnv !== undefined && !key) throw new Error(`MCP server ${server.name}: ${apiKeyEnv} is not set`);
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: cappedFetch(maxMessageBytes),
  });
  return transport as Transport;
}

const TOOLS_MOST = 1000;

async function offered(client: Client, options: { readonly timeout: number }): Promise<OfferedTool[]> {
  const tools: OfferedTool[] = [];
  for (let cursor: string | undefined; tools.length < TOOLS_MOST; ) {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, options);
    for (const { name, description, inputSchema } of page.tools) {
      tools.push({ name, inputSchema, ...defined({ description }) });
    }
    if (page.nextCursor === undefined || page.tools.length === 0) break;
    cursor = page.nextCursor;
  }
  return tools.slice(0, TOOLS_MOST);
}

/** Fetches without following redirects, which would carry the key elsewhere, and reads no more than so many bytes of each answer. */
function cappedFetch(maxBytes: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: "manual" });
    // The client that receives a redirect may follow it by itself.
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Error(`it answered ${response.status}, and is not followed elsewhere`);
    }
    if (response.body === null) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const most = isStream ? maxBytes : Math.min(maxBytes, WHOLE_BYTES);
    const limited = limitedBytes(most, () => new Error(`the answer is larger than ${most} bytes`));
    const body = response.body.pipeThrough(limited);
    return new Response(isStream ? body.pipeThrough(littleByLittle()) : body, response);
  };
}

/** An answer that is no stream is parsed and checked in one go, also where it holds thousands of messages. */
const WHOLE_BYTES = 2 * 1024 * 1024;
