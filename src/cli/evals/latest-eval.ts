import { AppError } from "../../protocol/errors.ts";
import type { EvalListQuery } from "../../protocol/evals/eval-baseline.ts";
import type { Client } from "../client/client.ts";

/** The word that stands for the newest evaluation wherever the id of one is taken. */
export const LATEST = "latest";

type Wanted = Pick<EvalListQuery, "status" | "suiteId" | "agentId">;

/** The newest evaluation that is wanted. */
export async function latestEval({ evals }: Client, wanted: Wanted = {}): Promise<string | undefined> {
  for await (const { runId } of evals.list({ ...wanted, limit: 1 })) return runId;
  return undefined;
}

/** The id of the evaluation that was named; throws `unusable_input` when `latest` names none. */
export async function evalNamed(client: Client, named: string, wanted: Wanted = {}): Promise<string> {
  if (named !== LATEST) return named;
  const newest = await latestEval(client, wanted);
  if (newest !== undefined) return newest;
  const { suiteId, agentId, status } = wanted;
  const which = [
    ...(status === undefined ? [] : [` that has ${status}`]),
    ...(suiteId === undefined ? [] : [` with suite ${suiteId}`]),
    ...(agentId === undefined ? [] : [` of agent ${agentId}`]),
  ].join("");
  const problem = `there is no evaluation${which || " yet"}; start one with: assay eval run`;
  throw new AppError("unusable_input", { problem });
}
