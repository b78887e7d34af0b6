import { AppError } from "../../protocol/errors.ts";
import type { EvalListQuery } from "../../protocol/evals/eval-baseline.ts";
import type { EvalHome } from "./eval-home.ts";

/** The word that stands for the newest evaluation wherever the id of one is taken. */
export const LATEST = "latest";

type Wanted = Pick<EvalListQuery, "status" | "suiteId" | "agentId">;

/** The newest evaluation that is wanted; a page may be empty while there is more. */
export async function latestEval(home: Pick<EvalHome, "list">, wanted: Wanted = {}): Promise<string | undefined> {
  let cursor: string | undefined;
  do {
    const page = await home.list({ ...wanted, limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    const [newest] = page.evals;
    if (newest !== undefined) return newest.runId;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return undefined;
}

/** The id of the evaluation that was named; throws `unusable_input` when `latest` names none. */
export async function evalNamed(home: Pick<EvalHome, "list">, named: string, wanted: Wanted = {}): Promise<string> {
  if (named !== LATEST) return named;
  const newest = await latestEval(home, wanted);
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
