import { existsSync } from "node:fs";
import type { Host } from "../../engine/host.ts";
import { evalReport } from "../../evals/run/eval-report.ts";
import { getEval, listEvals } from "../../evals/run/list-evals.ts";
import { exportBaseline, getBaseline, listBaselines } from "../../evals/run/named-baselines.ts";
import { evalTaskBodies } from "../../evals/run/task-bodies.ts";
import { parseSuiteRef } from "../../evals/suite/suite-ref.ts";
import { readSuite } from "../../evals/suite/suite-store.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalPage } from "../../protocol/evals/eval-baseline.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Store } from "../../store/port/store.ts";
import { openReadOnlyStore } from "../../store/sqlite/read-only-store.ts";
import { type DatabaseConfig, sqlitePath } from "../server/database.ts";
import type { EvalHome } from "./eval-home.ts";

/**
 * Version 0.1 kept local evaluations in the database of a server on the same folder. What is not found in the file of evaluations is
 * looked up there, also while that server runs. Nothing is written there: it is the server's.
 */
export function withEarlierEvals<H extends EvalHome>(home: H, host: Host, caller: Caller, config: DatabaseConfig): H {
  const path = sqlitePath(config);
  if (config.databaseUrl !== undefined || !existsSync(path)) return home;
  let opened: Promise<Store | undefined> | undefined;
  const earlier = async (): Promise<Host | undefined> => {
    opened ??= openReadOnlyStore(path).catch(unlessOutdated);
    const store = await opened;
    return store && { ...host, store };
  };
  const orEarlier = async <T>(here: Promise<T>, there: (host: Host) => Promise<T>): Promise<T> => {
    try {
      return await here;
    } catch (error) {
      if (!isMissing(error)) throw error;
      const before = await earlier();
      if (before === undefined) throw error;
      return there(before).catch((other: unknown) => {
        throw isMissing(other) ? error : other;
      });
    }
  };
  /** A run that only the server's database has cannot be written about here. */
  const unlessServers = <T>(runId: string | undefined, here: Promise<T>): Promise<T> =>
    orEarlier(here, async (there) => {
      await getEval(there, caller, runId ?? "");
      const problem = `${runId} is in ${path}, the database of a server; start that server and use --url`;
      throw new AppError("unusable_input", { problem });
    });
  /** An evaluation compares with what its own database has, so a baseline from there is imported first. */
  const bringBaseline = (suiteId: string, name: string) =>
    orEarlier(home.baseline(suiteId, name), async (there) => {
      const file = await exportBaseline(there, caller, { suiteId, name });
      await home.keepBaselineFile(file);
      return home.setBaseline(suiteId, name, { fileSha256: file.sha256 });
    });
  return {
    ...home,
    suite: (ref) => orEarlier(home.suite(ref), async (there) => (await readSuite(there, caller.tenant, ref)).suite),
    entry: (runId) => orEarlier(home.entry(runId), (there) => getEval(there, caller, runId)),
    report: (runId) => orEarlier(home.report(runId), (there) => evalReport(there, caller, runId, { content: true })),
    task: (runId, taskId) =>
      orEarlier(home.task(runId, taskId), (there) => evalTaskBodies(there, caller, runId, taskId)),
    list: async (query) => {
      const page = await home.list(query);
      const limit = (query.limit ?? page.evals.length) - page.evals.length;
      if (limit <= 0 || page.nextCursor !== undefined || query.cursor !== undefined) return page;
      const before = await earlier();
      return before === undefined ? page : joined(page, await listEvals(before, caller, { ...query, limit }));
    },
    start: async (request) => {
      const { baseline } = request.configurable;
      if (baseline !== undefined) await bringBaseline(parseSuiteRef(request.evalSuiteRef).suiteId, baseline);
      return home.start(request);
    },
    baseline: (suiteId, name) =>
      orEarlier(home.baseline(suiteId, name), (there) => getBaseline(there, caller, { suiteId, name })),
    baselines: async (cursor) => {
      const page = await home.baselines(cursor);
      if (cursor !== undefined || page.nextCursor !== undefined) return page;
      const before = await earlier();
      if (before === undefined) return page;
      const { baselines } = await listBaselines(before, caller, { limit: 200 });
      const isNew = (one: (typeof baselines)[number]) =>
        !page.baselines.some(({ suiteId, name }) => suiteId === one.suiteId && name === one.name);
      return { baselines: [...page.baselines, ...baselines.filter(isNew)] };
    },
    exportBaseline: (suiteId, name) =>
      orEarlier(home.exportBaseline(suiteId, name), (there) => exportBaseline(there, caller, { suiteId, name })),
    setBaseline: (suiteId, name, named) => unlessServers(named.runId, home.setBaseline(suiteId, name, named)),
    judgeTask: (runId, taskId, request) => unlessServers(runId, home.judgeTask(runId, taskId, request)),
    addFrom: (request) => unlessServers(request.runId, home.addFrom(request)),
    close: async () => {
      await home.close();
      await (await opened)?.close();
    },
  };
}

/** A file of an older version is the server's to bring up to date; until then nothing is read from it. */
function unlessOutdated(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === "schema_outdated")) throw error;
}

function isMissing(error: unknown): boolean {
  return error instanceof AppError && error.code === "not_found";
}

/** Newest first: ids are in the order of time. */
function joined(here: EvalPage, there: EvalPage): EvalPage {
  const evals = [...here.evals, ...there.evals].sort((a, b) => (a.runId < b.runId ? 1 : -1));
  return { evals };
}
