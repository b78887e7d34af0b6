import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { TaskLink, TaskLinkPage, TaskLinkQuery } from "../../protocol/evals/suite-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Document, Documents, DocumentWrite } from "../../store/port/documents.ts";
import type { Store } from "../../store/port/store.ts";

/** Links are stored under the task and under the run: each direction is one read. */
const OF_SUITE = "suite:";
const OF_RUN = "run:";

function keysOf({ suiteId, taskId, runId }: Pick<TaskLink, "suiteId" | "taskId" | "runId">): [string, string] {
  return [`${OF_SUITE}${suiteId}/${taskId}/${runId}`, `${OF_RUN}${runId}/${suiteId}/${taskId}`];
}

export function taskHash(task: EvalTask): string {
  return sha256(canonicalJson(JSON.parse(JSON.stringify(task))));
}

/** Writes a link both ways; one that is there already is replaced. */
export async function linkWrites(
  store: Documents,
  { tenant, workspace }: Visibility,
  link: TaskLink,
  atMs: number,
): Promise<DocumentWrite[]> {
  const keys = keysOf(link);
  const current = await store.readDocuments(tenant, "task-link", keys);
  return keys.map((key) => {
    const revision = (current.find((one) => one.key === key)?.revision ?? 0) + 1;
    const base: Document = { tenant, kind: "task-link", key, revision, atMs, body: JSON.stringify(link) };
    return { type: "put", document: workspace === undefined ? base : { ...base, workspace } };
  });
}

const DEFAULT_LIMIT = 50;

/** The tasks made from a run, or the runs from which the tasks of a suite were made; visible runs only. */
export async function listTaskLinks(
  store: Pick<Store, "listDocuments">,
  { tenant, workspace }: Visibility,
  { runId, suiteId, limit = DEFAULT_LIMIT, cursor }: TaskLinkQuery,
): Promise<TaskLinkPage> {
  const prefix =
    runId === undefined ? `${OF_SUITE}${suiteId === undefined ? "" : `${suiteId}/`}` : `${OF_RUN}${runId}/`;
  if (cursor !== undefined && !cursor.startsWith(prefix)) {
    throw validationError("cursor is not one this host gave out for this question");
  }
  const links: TaskLink[] = [];
  let after = cursor;
  for (;;) {
    const query = { prefix, limit: limit + 1, ...defined({ after }) };
    const page = await store.listDocuments(tenant, "task-link", query);
    for (const document of page) {
      if (links.length === limit) return { links, ...defined({ nextCursor: after }) };
      after = document.key;
      if (workspace !== undefined && document.workspace !== workspace) continue;
      const link = JSON.parse(document.body) as TaskLink;
      if (suiteId === undefined || link.suiteId === suiteId) links.push(link);
    }
    if (page.length <= limit) return { links };
  }
}
