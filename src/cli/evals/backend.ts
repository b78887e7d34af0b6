import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { UsableSuite } from "../../evals/suite/load-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { EvalEntry } from "../../protocol/evals/baselines.ts";
import { type Client, type ClientSettings, connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call, Flags } from "../program/command.ts";
import { agentIds } from "../program/nearest-name.ts";
import { followRun } from "../runs/follow.ts";
import { type DatabaseConfig, describeDatabase, evalsPath, opensDatabase, sqlitePath } from "../server/database.ts";

/** The place where evaluations run and are kept: a server, or a database of this machine with this process as its worker. */
export interface EvalBackend {
  /** Asks the server, or the host in this process. */
  readonly client: Client;
  /** Keeps a suite from a file. Returns a note about it for the user, if there is one. */
  keepSuite(suite: UsableSuite): Promise<string | undefined>;
  agentIds(): Promise<readonly string[]>;
  /** Resumes an interrupted evaluation; a server does so by itself. */
  resume(runId: string): Promise<void>;
  /**
   * Waits for the end of an evaluation; `onScored` gets the number of tasks that have their score. When the signal is aborted, everything
   * that this process started has ended before the promise rejects.
   */
  untilEnded(runId: string, onScored: ((scored: number) => void) | undefined, signal: AbortSignal): Promise<void>;
  /** What happens to an evaluation whose wait is interrupted. */
  readonly afterInterrupt: "resumable" | "goes on" | "cancelled";
  /** Whether an evaluation has stopped before its end and waits for `--resume`. False where that is not known. */
  isInterrupted(entry: EvalEntry): Promise<boolean>;
  close(): Promise<void>;
}

/** A call of any command that asks for evaluations. */
type EvalCall = Pick<Call<Flags>, "config" | "given" | "isSet" | "io" | "json">;

/** A command that only reads also works while an evaluation runs in the same folder; one that creates may make the database. */
type Access = "reads" | "writes" | "creates";

/** Runs a command on the backend that the call asks for, and closes it. */
export async function withBackend<T>(
  call: EvalCall,
  access: Access,
  use: (backend: EvalBackend) => Promise<T>,
): Promise<T> {
  const backend = await openBackend(call, access);
  try {
    return await use(backend);
  } catch (error) {
    throw aboutEvaluations(error, looksAtServer(call) ? undefined : keptText(call));
  } finally {
    await backend.close();
  }
}

/** Opens the backend that the call asks for. The modules of a database are loaded only for a database. */
export async function openBackend(call: EvalCall, access: Access) {
  const server = looksAtServer(call);
  if (!call.json) call.io.err(`assay: looking ${placeText(call, server)}`);
  if (server) return serverBackend(call.config);
  const config = ownConfig(call);
  if (access !== "creates") requireEvals(config);
  return (await import("./own-backend.ts")).ownBackend(config, call.io, { reads: access === "reads" });
}

/**
 * Whether an evaluation runs on a server: when one is named, by flag or by a setting, unless `--data` or `--database-url` is given as a
 * flag. A database in a file of settings or in the environment is the server's.
 */
export function wantsServer({ given, isSet }: Pick<EvalCall, "given" | "isSet">): boolean {
  return !opensDatabase(given) && isSet("url");
}

/**
 * Whether evaluations are looked up on a server: as the flags of this call say, else where the last `eval run` with this folder kept its
 * result, so that a server's address in the environment does not hide a local evaluation from the next command.
 */
function looksAtServer(call: EvalCall): boolean {
  const { given, config } = call;
  if (!wantsServer(call) || given.has("url") || given.has("key")) return wantsServer(call);
  return !(existsSync(markerOf(config.data)) && existsSync(evalsPath(config)));
}

/** A file that exists where the last `eval run` kept its result in this folder and not on a server. */
function markerOf(data: string): string {
  return join(data, "evals-here");
}

/** Lets later commands look for evaluations where this one was kept. */
export function rememberPlace(call: EvalCall, isOnServer: boolean): void {
  const { data, databaseUrl } = ownConfig(call);
  if (isOnServer) rmSync(markerOf(data), { force: true });
  if (isOnServer || databaseUrl !== undefined) return;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(markerOf(data), "");
}

function placeText(call: EvalCall, server: boolean): string {
  const { url } = call.config;
  if (server) return `at ${url}`;
  const kept = keptText(call);
  return wantsServer(call) ? `${kept}, where the last evaluation was kept; --url ${url} looks there` : kept;
}

/** The database or folder of local evaluations, as part of a sentence. */
export function keptText(call: Pick<EvalCall, "config" | "given">): string {
  const { data, databaseUrl } = ownConfig(call);
  if (databaseUrl !== undefined) return `in ${describeDatabase({ data, databaseUrl })}`;
  const shown = relative(process.cwd(), data);
  return `in ${printable(shown === "" || shown.startsWith("..") ? data : shown)}`;
}

/** The settings of a local evaluation, in which a database address counts only as a flag. */
export function ownConfig({ config, given }: Pick<EvalCall, "config" | "given">): EvalCall["config"] {
  return given.has("databaseUrl") ? config : { ...config, databaseUrl: undefined };
}

/** Refuses a folder without evaluations: a mistyped folder must not become a new, empty database. */
function requireEvals(config: DatabaseConfig): void {
  if (config.databaseUrl !== undefined || existsSync(evalsPath(config)) || existsSync(sqlitePath(config))) return;
  throw unusableInput(
    `there is no database in ${config.data}; start an evaluation with assay eval run, or name another folder with --data`,
  );
}

/** The error in the terms of evaluations: a missing run is an evaluation, and `place`, where it is given, has no keys that could hide one. */
export function aboutEvaluations(error: unknown, place: string | undefined): unknown {
  if (!(error instanceof AppError && error.code === "not_found")) return error;
  const isRun = error.details["what"] === "run";
  const about = new AppError("not_found", { ...error.details, ...(isRun ? { what: "evaluation" } : {}) });
  const message = isRun ? error.message.replace(/\bno run\b/, "no evaluation") : error.message;
  about.message = place === undefined ? message : message.replace("here that this key can see", () => place);
  return about;
}

export function serverBackend(settings: ClientSettings): EvalBackend {
  const client = connect(settings);
  return {
    client,
    keepSuite: async ({ suite, text }) => void (await client.suites.put(refText(suite), text)),
    agentIds: () => agentIds(client),
    resume: async () => {},
    untilEnded: async (runId, onScored, signal) => {
      let scored = 0;
      const onEvent = ({ type }: { readonly type: string }) => {
        if (type === "eval.scored") onScored?.(++scored);
      };
      await followRun(client, { runId, mode: "updates", onEvent, signal });
      signal.throwIfAborted();
    },
    afterInterrupt: "goes on",
    isInterrupted: async () => false,
    close: async () => {},
  };
}

/** Cancels an evaluation or a calibration whose wait was interrupted. */
export async function cancelInterrupted({ runs }: Client, runId: string): Promise<void> {
  await runs.cancel(runId, { reason: "interrupted" });
}
