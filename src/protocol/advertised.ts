import type { Discovery } from "./discovery.ts";

/**
 * Whether discovery advertises a capability: by its place in the document, as in `agents.liveRuntime`, where what is in a list is a
 * last step, or among the runtime capabilities. Some texts put `host.` before a family.
 */
export function advertises(document: Discovery, capability: string): boolean {
  if (document.runtimeCapabilities?.includes(capability)) return true;
  const steps = capability.replace(/^host\./, "").split(".");
  let found: unknown = document;
  for (const step of steps) {
    if (Array.isArray(found)) found = found.includes(step);
    else if (isRecord(found) && Object.hasOwn(found, step)) found = found[step];
    else return false;
  }
  return found === true || (isRecord(found) && found["supported"] === true);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
