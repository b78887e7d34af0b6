import type { AgentAnswer } from "../binding.ts";
import { usable } from "../usable-value.ts";
import { failed } from "./failure.ts";

/** The answer with this output, or why it cannot be one. */
export function withOutput(
  given: unknown,
  more: Omit<Extract<AgentAnswer, { type: "completed" }>, "type" | "output"> = {},
): AgentAnswer {
  const output = usable(given);
  if ("problem" in output) return failed("agent_output_invalid", `its output ${output.problem}`);
  return { type: "completed", output: output.value, ...more };
}
