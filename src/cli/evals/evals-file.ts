import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { parseSuiteRef } from "../../evals/suite/suite-ref.ts";
import { type Answer, answerOf, callAt, type InProcessFetch } from "../../http/in-process.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import type { BaselinePage, EvalPage } from "../../protocol/evals/baselines.ts";
import { CALIBRATION_WORKFLOW_ID } from "../../protocol/evals/judge-certificate-api.ts";
import type { OperationId } from "../../protocol/operations.ts";
import type { Store } from "../../store/port/store.ts";
import { databasePath, openForReading, openForWriting } from "../../store/sqlite/open-database.ts";
import { takeOwnership } from "../../store/sqlite/owner-lock.ts";
import { openReadOnlyStore } from "../../store/sqlite/read-only-store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { connectHere } from "../client/client.ts";
import { type DatabaseConfig, evalsPath, openStore, prepareFolder, sqlitePath } from "../server/database.ts";

export interface EvalStore {
  readonly store: Store;
  /** This process owns the file, so no other process runs an evaluation in it. */
  readonly isOwned: boolean;
}

/** Opens the database of evaluations. A file that another evaluation owns is opened for reading with `reads`, else refused. */
export async function openEvalStore(config: DatabaseConfig, { reads = false } = {}): Promise<EvalStore> {
  if (config.databaseUrl !== undefined) return { store: await openStore(config), isOwned: false };
  const path = evalsPath(config);
  prepareFolder(config, path);
  try {
    await adoptEarlierFile(sqlitePath(config), path);
    return { store: await openSqliteStore({ path }), isOwned: true };
  } catch (error) {
    if (!(error instanceof AppError && error.code === "database_in_use")) throw error;
    if (reads && existsSync(path)) return { store: await openReadOnlyStore(path), isOwned: false };
    const { path: used, pid } = error.details;
    // A server on the same folder has another file, so the owner of this one is an evaluation.
    throw unusableInput(
      `${used} is in use by process ${pid}, another evaluation in this folder; wait for it, or use another folder with --data DIR`,
    );
  }
}

/**
 * Version 0.1 kept evaluations in the file that a server uses. A file that holds evaluations only, because no server ever started on it,
 * is renamed once. Any other stays where it is and is read from there.
 */
async function adoptEarlierFile(earlier: string, path: string): Promise<void> {
  const isWanted = async () => !existsSync(path) && existsSync(earlier) && (await holdsOnlyEvals(earlier));
  if (!(await isWanted())) return;
  const lock = await takeOwnership(databasePath(earlier));
  try {
    if (!(await isWanted())) return;
    // Its last user removes the log when it closes a file; a log that remains is in use.
    const db = await openForWriting(earlier);
    db.exec("pragma wal_checkpoint(truncate)");
    db.close();
    const log = `${earlier}-wal`;
    if (existsSync(log) && statSync(log).size > 0) return;
    for (const companion of [log, `${earlier}-shm`]) rmSync(companion, { force: true });
    renameSync(earlier, path);
  } finally {
    lock.release();
  }
}

/** The first start of a server makes a key, so a file without keys is not a server's. */
async function holdsOnlyEvals(path: string): Promise<boolean> {
  const db = await openForReading(path);
  try {
    const tables = db.prepare("select 1 from sqlite_master where name in ('runs', 'api_keys')").all();
    if (tables.length < 2 || db.prepare("select 1 from api_keys limit 1").get() !== undefined) return false;
    const evals = db.prepare("select 1 from runs where workflow_id in (?, ?) limit 1");
    return evals.get(EVAL_WORKFLOW_ID, CALIBRATION_WORKFLOW_ID) !== undefined;
  } finally {
    db.close();
  }
}

type Earlier = () => Promise<InProcessFetch | undefined>;

interface EarlierEvals {
  readonly fetch: InProcessFetch;
  close(): Promise<void>;
}

/**
 * Answers with the evaluations of version 0.1 too, which kept them in the database of a server on the same folder, `path`. An evaluation that is
 * not in the file of evaluations is looked up there, also while that server runs. Nothing is written there.
 */
export function withEarlierEvals(
  here: InProcessFetch,
  path: string,
  hostOn: (store: Store) => InProcessFetch,
): EarlierEvals {
  let opened: Promise<Store | undefined> | undefined;
  const earlier = async () => {
    opened ??= openReadOnlyStore(path).catch(unlessOutdated);
    const store = await opened;
    return store && hostOn(store);
  };
  return { fetch: joined(here, earlier, path), close: async () => (await opened)?.close() };
}

/** A file with the schema of an older version is read after its server has migrated it. */
function unlessOutdated(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === "schema_outdated")) throw error;
}

const READS: ReadonlySet<OperationId> = new Set([
  "getEval",
  "getEvalReport",
  "getEvalTaskBodies",
  "getBaseline",
  "exportBaseline",
  "getSuite",
]);
const WRITES: ReadonlySet<OperationId> = new Set(["setBaseline", "judgeEvalTask", "addTaskFromRun"]);

interface Body {
  readonly runId?: string;
  readonly evalSuiteRef?: string;
  readonly configurable?: { readonly baseline?: string };
}

function joined(here: InProcessFetch, earlier: Earlier, path: string): InProcessFetch {
  const own = connectHere(here);
  /** Imports a baseline of the earlier file: an evaluation is compared with baselines of its own database only. */
  const bringBaseline = async (suiteId: string, name: string) => {
    try {
      await own.evals.baseline(suiteId, name);
    } catch (error) {
      const there = isMissing(error) ? await earlier() : undefined;
      if (there === undefined) throw error;
      const file = await connectHere(there)
        .evals.exportBaseline(suiteId, name)
        .catch((other: unknown) => {
          throw isMissing(other) ? error : other;
        });
      await own.evals.keepBaselineFile(file.sha256, file);
      await own.evals.setBaseline(suiteId, name, { fileSha256: file.sha256 });
    }
  };
  return async (url, asked) => {
    const { id, params } = callAt(asked.method ?? "GET", new URL(url).pathname) ?? {};
    const body = (): Body => (typeof asked.body === "string" ? JSON.parse(asked.body) : {});
    if (id === "createRun") {
      const { evalSuiteRef = "", configurable: { baseline } = {} } = body();
      if (baseline !== undefined) await bringBaseline(parseSuiteRef(evalSuiteRef).suiteId, baseline);
    }
    const answer = await here(url, asked);
    if (answer.ok && id === "listEvals") return withEvals(answer, url, earlier);
    if (answer.ok && id === "listBaselines") return withBaselines(answer, url, earlier);
    if (answer.status !== 404 || id === undefined) return answer;
    if (READS.has(id)) {
      const other = await (await earlier())?.(url, asked);
      return other === undefined || other.status === 404 ? answer : other;
    }
    const runId = WRITES.has(id) ? (params?.["runId"] ?? body().runId) : undefined;
    if (runId !== undefined) await refuseEarlierRun(runId, earlier, path);
    return answer;
  };
}

/** Refuses to write about a run that only the server's database has. */
async function refuseEarlierRun(runId: string, earlier: Earlier, path: string): Promise<void> {
  const there = await earlier();
  if (there === undefined) return;
  const found = await connectHere(there)
    .evals.get(runId)
    .catch(() => undefined);
  if (found === undefined) return;
  throw unusableInput(`${runId} is in ${path}, the database of a server; start that server and use --url`);
}

/** The evaluations of both files, newest first: ids are in the order of time. */
async function withEvals(answer: Answer, url: string, earlier: Earlier): Promise<Answer> {
  const page: EvalPage = JSON.parse(await answer.text());
  const rest = new URL(url);
  const query = rest.searchParams;
  const limit = Number(query.get("limit") ?? page.evals.length) - page.evals.length;
  const there = limit <= 0 || isPart(page, query) ? undefined : await earlier();
  query.set("limit", String(limit));
  const other = await there?.(rest.href, {});
  if (other === undefined || !other.ok) return other ?? answerOf({ status: 200, json: page });
  const { evals }: EvalPage = JSON.parse(await other.text());
  const all = [...page.evals, ...evals].sort((a, b) => (a.runId < b.runId ? 1 : -1));
  return answerOf({ status: 200, json: { evals: all } });
}

async function withBaselines(answer: Answer, url: string, earlier: Earlier): Promise<Answer> {
  const page: BaselinePage = JSON.parse(await answer.text());
  const there = isPart(page, new URL(url).searchParams) ? undefined : await earlier();
  if (there === undefined) return answerOf({ status: 200, json: page });
  const { baselines } = await connectHere(there).evals.baselines({ limit: 200 });
  const isNew = (one: (typeof baselines)[number]) =>
    !page.baselines.some(({ suiteId, name }) => suiteId === one.suiteId && name === one.name);
  return answerOf({ status: 200, json: { baselines: [...page.baselines, ...baselines.filter(isNew)] } });
}

/** Whether this page is not the whole list of this file: earlier entries come after all of these. */
function isPart(page: { readonly nextCursor?: string }, query: URLSearchParams): boolean {
  return page.nextCursor !== undefined || query.has("cursor");
}

function isMissing(error: unknown): boolean {
  return error instanceof AppError && error.code === "not_found";
}
