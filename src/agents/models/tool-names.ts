import type { ToolDescriptor } from "../tool-surface.ts";

const LONGEST = 64;

/** Tools by names that every provider takes: letters, digits, `_` and `-`, at most 64 of them, each once. */
export function sayableNames(tools: readonly ToolDescriptor[]): ReadonlyMap<string, ToolDescriptor> {
  const named = new Map<string, ToolDescriptor>();
  for (const tool of tools) {
    const plain = tool.name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, LONGEST);
    let name = plain;
    for (let n = 2; named.has(name); n++) name = `${plain.slice(0, LONGEST - String(n).length - 1)}_${n}`;
    named.set(name, tool);
  }
  return named;
}
