import { defined } from "../../protocol/defined.ts";
import type { InstalledAgent } from "../agents.ts";
import type { McpServer } from "../bindings/agents-file-schema.ts";
import { isFor } from "../bindings/bindings.ts";
import { withinTime } from "../retrying.ts";
import type { ToolDescriptor, ToolResult, ToolSurface } from "../tool-surface.ts";
import { type Connected, connect, MCP_DEFAULTS, type McpSettings, type McpWorld, reasonOf } from "./mcp-connection.ts";
import { ANY_RESULT, resultOf } from "./mcp-results.ts";

/** `mcp:<server>/<tool>`, as in allow-lists. */
const NAME = /^mcp:([a-z][a-z0-9_-]{0,63})\/(.+)$/;

/** The tools of MCP servers, each connected to when an agent first needs it and shared by all that do. */
export interface McpTools {
  /**
   * Tools that the agent may call for the tenant. Rejects when a server that it names is not configured for it or cannot be
   * reached.
   */
  toolsFor(
    agent: Pick<InstalledAgent, "toolAllowlist" | "hasManifest">,
    signal: AbortSignal,
    tenant: string,
  ): Promise<ToolSurface>;
  /** Ends every server that was started. */
  close(): Promise<void>;
}

export function mcpTools(
  servers: readonly McpServer[],
  world: McpWorld,
  settings: McpSettings = MCP_DEFAULTS,
): McpTools {
  const pool = new Map(servers.map((server) => [server.name, new Pooled(server, world, settings)]));
  const poolFor = (tenant: string) => {
    const theirs = servers.filter((server) => isFor(server, tenant)).map(({ name }) => name);
    return (name: string) => (theirs.includes(name) ? pool.get(name) : undefined);
  };
  return {
    async toolsFor({ toolAllowlist, hasManifest }, signal, tenant) {
      const serverOf = poolFor(tenant);
      const wanted = toolAllowlist.flatMap((name) => {
        const [, server, tool] = NAME.exec(name) ?? [];
        return server === undefined || tool === undefined ? [] : [{ name, server, tool }];
      });
      const names = [...new Set(wanted.map(({ server }) => server))];
      const offers = new Map<string, Connected["tools"]>();
      for (const name of names) {
        const server = serverOf(name);
        // An agent without a manifest has no list that names the server: fixtures named its tools, and the agent may bring its
        // own.
        if (server === undefined && hasManifest === false) continue;
        if (server === undefined) throw new Error(`no MCP server ${name} is configured for tenant ${tenant}`);
        offers.set(name, await server.offered(signal));
      }
      const tools = wanted.flatMap(({ name, server, tool }): ToolDescriptor[] => {
        const { description, inputSchema } = offers.get(server)?.find((one) => one.name === tool) ?? {};
        if (inputSchema === undefined) return [];
        return [{ name, inputSchema, transport: "mcp", ...defined({ description }) }];
      });
      return {
        tools,
        async call(name, args, calling) {
          const { server, tool } = wanted.find((one) => one.name === name) ?? {};
          const pooled = server === undefined ? undefined : serverOf(server);
          if (pooled === undefined || tool === undefined) return { status: "error", error: `there is no tool ${name}` };
          return pooled.call(tool, args, calling);
        },
      };
    },
    async close() {
      await Promise.all([...pool.values()].map((server) => server.close()));
    },
  };
}

/** One server: connected when needed, disconnected when idle, and reconnected when the connection was lost. */
class Pooled {
  readonly #server: McpServer;
  readonly #world: McpWorld;
  readonly #settings: McpSettings;
  #connection: Promise<Connected> | undefined;
  #busy = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(server: McpServer, world: McpWorld, settings: McpSettings) {
    this.#server = server;
    this.#world = world;
    this.#settings = settings;
  }

  async offered(signal: AbortSignal): Promise<Connected["tools"]> {
    return (await this.#connected(signal)).tools;
  }

  async call(tool: string, args: unknown, signal: AbortSignal): Promise<ToolResult> {
    signal.throwIfAborted();
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      return { status: "error", error: "its arguments must be an object" };
    }
    const asked = { name: tool, arguments: args as Record<string, unknown> };
    this.#busy += 1;
    clearTimeout(this.#idle);
    try {
      const connection = await this.#connected(signal);
      return await this.#ask(connection, asked, signal).catch(async (error: unknown) => {
        if (!isUnknownSession(error)) throw error;
        await this.#forget(connection);
        return this.#ask(await this.#connected(signal), asked, signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      return { status: "error", error: reasonOf(error, this.#world.scrubText) };
    } finally {
      this.#busy -= 1;
      this.#restWhenIdle();
    }
  }

  #ask({ client }: Connected, asked: Asked, signal: AbortSignal): Promise<ToolResult> {
    const { callMs, maxResultBytes } = this.#settings;
    // A little longer than the client's own limit, which also signals the server to stop.
    return withinTime<ToolResult>(
      callMs + 1000,
      signal,
      async (within) =>
        resultOf(
          await client.callTool(asked, ANY_RESULT as never, { signal: within, timeout: callMs }),
          maxResultBytes,
        ),
      () => ({ status: "error", error: `no answer within ${callMs} ms` }),
    );
  }

  /** Keeps a newer connection that a concurrent call made. */
  async #forget(lost: Connected): Promise<void> {
    const current = await this.#connection?.catch(() => undefined);
    if (current === lost) await this.#letGo();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#letGo();
  }

  async #connected(signal: AbortSignal): Promise<Connected> {
    if (this.#closed) throw new Error(`MCP server ${this.#server.name}: this process is ending`);
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    // Other callers may wait for the same connection, so an abort of one does not end it.
    const connected = await withinTime(
      this.#settings.connectMs * 3,
      signal,
      (within) => Promise.race([connection, aborted(within)]),
      () => {
        throw new Error(`MCP server ${this.#server.name}: it did not answer in time`);
      },
    );
    this.#restWhenIdle();
    return connected;
  }

  #connect(): Promise<Connected> {
    const connection: Promise<Connected> = connect(this.#server, this.#world, this.#settings, () => {
      if (this.#connection === connection) this.#connection = undefined;
    });
    connection.catch(() => {
      if (this.#connection === connection) this.#connection = undefined;
    });
    return connection;
  }

  #restWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#busy > 0 || this.#closed) return;
    this.#idle = setTimeout(() => void this.#letGo(), this.#settings.idleMs);
    this.#idle.unref();
  }

  async #letGo(): Promise<void> {
    clearTimeout(this.#idle);
    const connection = this.#connection;
    this.#connection = undefined;
    const connected = await connection?.catch(() => undefined);
    await connected?.close();
  }
}

interface Asked {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** The answer of a restarted server to an old session: the call was not executed, and needs a new session. */
function isUnknownSession(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 404;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
