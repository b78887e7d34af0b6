import { unusableInput } from "../../protocol/errors.ts";
import type { EvalListQuery } from "../../protocol/evals/baselines.ts";
import type { Client } from "../client/client.ts";

/** Stands for the newest evaluation wherever the id of one is taken. */
export const LATEST = "latest";

type Wanted = Pick<EvalListQuery, "status" | "suiteId" | "agentId">;

/** The id of the newest evaluation that matches. */
export async function latestEval({ evals }: Client, wanted: Wanted = {}): Promise<string | undefined> {
  for await (const { runId } of evals.list({ ...wanted, limit: 1 })) return runId;
  return undefined;
}

/** The id that an argument stands for. Throws `unusable_input` when it is `latest` and no evaluation matches. */
export async function evalNamed(client: Client, named: string, wanted: Wanted = {}): Promise<string> {
  if (named !== LATEST) return named;
  const newest = await latestEval(client, wanted);
  if (newest !== undefined) return newest;
  const { suiteId, agentId, status } = wanted;
  const filters = [
    status && ` that has ${status}`,
    suiteId && ` with suite ${suiteId}`,
    agentId && ` of agent ${agentId}`,
  ];
  const which = filters.filter(Boolean).join("");
  throw unusableInput(`there is no evaluation${which || " yet"}; start one with: assay eval run`);
}
