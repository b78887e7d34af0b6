/** What the package `assay` exports: a host for evaluations in the process of a program, which needs no server. */
import { boundFunction } from "./evals/own-agent.ts";
import { ownBackend } from "./evals/own-backend.ts";
import { loadConfig } from "./settings/config.ts";

/** What an agent answers: its output as JSON, or a promise of it. What it throws is counted as an error of the agent. */
export type LocalAgent = (input: unknown, task: LocalTask) => unknown;

export interface LocalTask {
  readonly runId: string;
  /** The task of the suite, and which of its trials this is, from 1. */
  readonly taskId: string | undefined;
  readonly trial: number | undefined;
  /** Aborted when the answer is no longer waited for. */
  readonly signal: AbortSignal;
}

export interface LocalSettings {
  /** The folder that keeps the evaluations: the one that `assay eval` uses. `.assay` */
  readonly data?: string;
  /** Agents by their ids, such as `acme.refunds.agent`. */
  readonly agents?: Readonly<Record<string, LocalAgent>>;
  /** A file of bindings of other agents, as `assay serve --agents` takes it. */
  readonly agentsFile?: string;
  /** Told what is left out and why. Nothing, where it is left out. */
  readonly onWarning?: (message: string) => void;
}

/** For `connect({ url, fetch })` of `@assay/sdk`. */
export interface LocalHost {
  readonly url: string;
  readonly fetch: (url: string, init: { readonly method?: string; readonly body?: unknown }) => Promise<LocalResponse>;
  /** Ends what it runs: what was scored is kept. */
  close(): Promise<void>;
}

export interface LocalResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
  blob(): Promise<Blob>;
}

/**
 * Opens the folder, which no other process may have open meanwhile. Evaluations, suites, calibrations and tapes are answered here; for
 * everything else there is a server.
 */
export async function openLocal(settings: LocalSettings = {}): Promise<LocalHost> {
  const { data, agents = {}, agentsFile, onWarning } = settings;
  const flags = Object.entries({ data, agents: agentsFile }).filter(([, value]) => value !== undefined);
  const config = loadConfig({ flags: Object.fromEntries(flags) });
  const bound = Object.entries(agents).map(([agentId, run]) => boundFunction(agentId, run));
  const backend = await ownBackend(
    { ...config, databaseUrl: undefined },
    { err: (line) => onWarning?.(line) },
    { bound },
  );
  return { url: "http://local.invalid", fetch: backend.fetch, close: () => backend.close() };
}
