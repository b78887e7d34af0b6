import type { AgentAnswer } from "../binding.ts";
import { failed } from "./failure.ts";

/** Whoever handles an output later goes through it level by level; this many are more than anybody means. */
const DEPTH_MAX = 64;

/** The answer with this output, or why it cannot be one. */
export function withOutput(
  output: unknown,
  more: Omit<Extract<AgentAnswer, { type: "completed" }>, "type" | "output"> = {},
): AgentAnswer {
  if (!isDeeper(output, DEPTH_MAX)) return { type: "completed", output, ...more };
  return failed("agent_output_invalid", `its output is nested more than ${DEPTH_MAX} levels deep`);
}

/** Level by level, because what is to be found out is whether it could be gone through any other way. */
function isDeeper(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= max; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
