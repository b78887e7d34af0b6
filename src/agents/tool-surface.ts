/** The tools an agent may call, already cut down to its allow-list. */
export interface ToolSurface {
  readonly tools: readonly ToolDescriptor[];
  /**
   * Calls a tool, or refuses to: one that is not in `tools` is never called, and that it was asked for is noted. Rejects only
   * when the signal is aborted.
   */
  call(name: string, args: unknown, signal: AbortSignal): Promise<ToolResult>;
  /** Begins anew with answers that come in order: the agent is asked for the same once more. Absent where there are none. */
  restart?(): void;
}

export interface ToolDescriptor {
  /** `<scope>:<tool-id>`, as in the allow-list. */
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments; absent takes any object. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly transport?: "mcp" | "http" | "native";
}

export type ToolResult =
  | { readonly status: "ok"; readonly outcome: unknown; readonly durationMs?: number }
  | {
      readonly status: "error" | "forbidden" | "rate_limited";
      /** Names the problem for programs; absent: its status does. */
      readonly code?: string;
      readonly error: string;
      readonly durationMs?: number;
    };

/** The code and the message of a tool that gave no result: the same to the agent, in the log and in what is kept of a task. */
export function toolError(result: Exclude<ToolResult, { readonly status: "ok" }>): {
  readonly code: string;
  readonly message: string;
} {
  const code = result.code ?? (result.status === "forbidden" ? "tool_not_allowed" : `tool_${result.status}`);
  return { code, message: result.error === "" ? "The tool gave no reason." : result.error };
}

/** Several surfaces as one. Each name leads to the first that has it. */
export function joined(surfaces: readonly ToolSurface[]): ToolSurface {
  const owners = new Map<string, ToolSurface>();
  for (const surface of surfaces) {
    for (const { name } of surface.tools) if (!owners.has(name)) owners.set(name, surface);
  }
  return {
    tools: surfaces.flatMap((surface) => surface.tools.filter(({ name }) => owners.get(name) === surface)),
    async call(name, args, signal) {
      const owner = owners.get(name);
      if (owner === undefined) return { status: "forbidden", error: `There is no tool ${name} here.` };
      return owner.call(name, args, signal);
    },
  };
}
