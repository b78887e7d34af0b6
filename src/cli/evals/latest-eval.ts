import type { EvalListQuery } from "../../protocol/eval-baseline.ts";
import type { EvalHome } from "./eval-home.ts";

/** The newest evaluation that is wanted; a page may be empty while there is more. */
export async function latestEval(
  home: Pick<EvalHome, "list">,
  wanted: Pick<EvalListQuery, "status" | "suiteId"> = {},
): Promise<string | undefined> {
  let cursor: string | undefined;
  do {
    const page = await home.list({ ...wanted, limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    const [newest] = page.evals;
    if (newest !== undefined) return newest.runId;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return undefined;
}
