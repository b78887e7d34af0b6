import type { AgentAnswer, AgentTask } from "../binding.ts";
import { failed } from "../bindings/failure.ts";
import type { OfferedTools, ToolGateway } from "./tool-gateway.ts";

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
