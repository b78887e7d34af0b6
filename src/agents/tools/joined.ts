import type { ToolSurface } from "../tool-surface.ts";

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
