import type { Agents } from "../../agents/agents.ts";
import { compileSchema } from "../../engine/schemas/decide/json-schema.ts";
import { checked } from "../../engine/schemas/schema-checks.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Expectation } from "./expected-of.ts";
import type { RecordedCase } from "./recorded-case.ts";

/**
 * Throws `validation_error` where the input or the answer does not fit the agent's schemas: the task would keep the whole suite
 * from being run, or always fail. Agents that are not installed are not checked.
 */
export async function requireFit(
  agents: Pick<Agents, "versionsOf"> | undefined,
  visible: Visibility,
  { agentId, agentVersion, input }: RecordedCase,
  { match, answer }: Expectation,
): Promise<void> {
  const versions = agentId === undefined ? [] : ((await agents?.versionsOf(visible, agentId)) ?? []);
  const agent = versions.find(({ version }) => version === agentVersion) ?? versions[0];
  if (agent === undefined) return;
  const { taskSchema, returnSchema } = agent;
  if (taskSchema !== undefined) {
    const [problem] = await checked(() => compileSchema(taskSchema, "task schema")(input));
    if (problem !== undefined) throw refuse(`${agentId} takes no such task: ${describe(problem)}`);
  }
  if (returnSchema !== undefined) {
    const checkedAnswer = match.strategy === "json-match" ? match.value : answer;
    const [problem] = await checked(() => compileSchema(returnSchema, "return schema")(checkedAnswer));
    if (problem !== undefined) {
      throw refuse(`the correction is no answer that ${agentId} can give, by its return schema: ${describe(problem)}`);
    }
  }
}

function describe({ path, problem }: { readonly path: string; readonly problem: string }): string {
  return `${path === "" ? "it" : path} ${problem}`;
}

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
