import type { Store } from "../../store/port/store.ts";
import { type TaskResult, taskPrefix } from "./task-result.ts";

const PAGE = 500;

/** The results of an evaluation so far, in the order of the suite. */
export async function readResults(
  store: Pick<Store, "listDocuments">,
  tenant: string,
  runId: string,
): Promise<TaskResult[]> {
  const results: TaskResult[] = [];
  let after: string | undefined;
  for (;;) {
    const query = { prefix: taskPrefix(runId), limit: PAGE, ...(after === undefined ? {} : { after }) };
    const page = await store.listDocuments(tenant, "eval-task", query);
    for (const { body } of page) results.push(JSON.parse(body) as TaskResult);
    after = page.at(-1)?.key;
    if (page.length < PAGE) return results;
  }
}
