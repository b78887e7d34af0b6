import type { Agents, InstalledAgent } from "../../agents/agents.ts";
import { compileSchema } from "../../engine/schemas/decide/json-schema.ts";
import { checked } from "../../engine/schemas/schema-checks.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import { validationError } from "../../protocol/errors.ts";
import type { GoldenMatch } from "../../protocol/evals/eval-suite.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { problemText } from "../../protocol/schema.ts";
import type { RecordedCase } from "./recorded-case.ts";

export interface Expectation {
  readonly match: GoldenMatch;
  /** The correction as the agent would have answered it. */
  readonly answer: unknown;
}

/**
 * The expectation that follows from a correction. Corrections are texts; where the agent answers JSON the text is parsed, and
 * compared without regard to white space and the order of members. Throws `validation_error` for a correction that no answer of
 * the agent could equal.
 */
export function expectedOf(correction: string, outputs: readonly unknown[]): Expectation {
  const json = parsedJson(correction);
  const values = outputs.filter((output) => typeof output !== "string");
  if (values.length > 0) {
    if (json !== undefined) return { match: { strategy: "json-match", value: json }, answer: json };
    throw validationError(
      "the agent answered JSON, and the correction is no JSON; correct it with the whole answer as it should have been",
    );
  }
  // Few mean a number or a word in quotes when they correct a text with one.
  const answersJson = outputs.length === 0 || outputs.some((output) => isBranch(parsedJson(String(output))));
  if (answersJson && isBranch(json)) {
    return { match: { strategy: "json-match", value: json }, answer: correction };
  }
  return { match: { strategy: "exact", value: correction }, answer: correction };
}

function isBranch(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** The version that was recorded, else the highest one. */
async function versionOrHighest(
  agents: Pick<Agents, "versionsOf"> | undefined,
  visible: Visibility,
  agentId: string,
  version: string | undefined,
): Promise<InstalledAgent | undefined> {
  const same = version === undefined ? [] : ((await agents?.versionsOf(visible, agentId, { version })) ?? []);
  const recorded = same.find((one) => one.version === version);
  return recorded ?? (await agents?.versionsOf(visible, agentId, { highest: true }))?.[0];
}

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
  const agent = agentId === undefined ? undefined : await versionOrHighest(agents, visible, agentId, agentVersion);
  if (agent === undefined) return;
  const { taskSchema, returnSchema } = agent;
  if (taskSchema !== undefined) {
    const [problem] = await checked(() => compileSchema(taskSchema, "task schema")(input));
    if (problem !== undefined) throw validationError(`${agentId} takes no such task: ${problemText(problem)}`);
  }
  if (returnSchema !== undefined) {
    const checkedAnswer = match.strategy === "json-match" ? match.value : answer;
    const [problem] = await checked(() => compileSchema(returnSchema, "return schema")(checkedAnswer));
    if (problem !== undefined) {
      throw validationError(
        `the correction is no answer that ${agentId} can give, by its return schema: ${problemText(problem)}`,
      );
    }
  }
}
