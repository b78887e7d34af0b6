import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../engine/host.ts";
import { type HostWideWorkflow, hostWideWorkflow } from "../../engine/workflows/register-workflow.ts";
import { type LoadedSuite, loadSuite, type UsableSuite } from "../../evals/suite/load-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { isNewHostWide, keepHostWide } from "../../evals/suite/suite-store.ts";
import { HOST_TENANT } from "../../protocol/audit/audit.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { HOST_WIDE, type WorkflowWrite } from "../../store/port/store.ts";
import { printable } from "../output/printable.ts";

export interface SkippedFile {
  readonly file: string;
  readonly reason: string;
}

interface CheckedWorkflows {
  readonly writes: readonly HostWideWorkflow[];
  readonly skipped: readonly SkippedFile[];
}

/** Checks every `*.json` of the folders. All files are read before the first is checked, because workflows may refer to each other. */
export async function checkWorkflowFiles(host: Host, folders: readonly string[]): Promise<CheckedWorkflows> {
  const skipped: SkippedFile[] = [];
  const attempt = async <T>(file: string, work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      skipped.push({ file, reason: reasonOf(error) });
      return undefined;
    }
  };
  const texts: { readonly file: string; readonly text: string | undefined }[] = [];
  for (const file of filesIn(folders, "--workflows")) {
    texts.push({ file, text: await attempt(file, () => readFileSync(file, "utf8")) });
  }
  const byId = new Map<string, { readonly file: string; readonly found: HostWideWorkflow }>();
  for (const { file, text } of texts) {
    if (text === undefined) continue;
    await attempt(file, async () => {
      const found = await hostWideWorkflow(host, parseJson(text), text);
      const { workflowId, hash } = found.write;
      const other = byId.get(workflowId);
      if (other && other.found.write.hash !== hash) throw new Error(`${other.file} has the same id, ${workflowId}`);
      byId.set(workflowId, { file, found });
    });
  }
  return { writes: [...byId.values()].map(({ found }) => found), skipped };
}

function filesIn(folders: readonly string[], flag: string): string[] {
  return folders.flatMap((folder) => {
    try {
      const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
      return names.sort().map((name) => join(folder, name));
    } catch (error) {
      throw unusableInput(`${flag} cannot be read: ${(error as Error).message}`);
    }
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`);
  }
}

/** The problem without the words about a request, because these are files. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError && error.code === "validation_error") return String(error.details["problem"]);
  return error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
}

/**
 * Registers workflows for all tenants. Those that are registered already do not change, so a second start changes nothing; gates that an
 * older version registered are pinned now.
 */
export async function registerNew(host: Host, writes: readonly HostWideWorkflow[]): Promise<void> {
  const fresh: WorkflowWrite[] = [];
  for (const { write } of writes) {
    const current = await host.store.readWorkflow(HOST_WIDE, write.workflowId);
    if (current?.hash !== write.hash) fresh.push(write);
  }
  const documents = writes.flatMap((one) => one.documents);
  if (fresh.length === 0 && documents.length === 0) return;
  await host.store.commit({
    tenant: HOST_TENANT,
    workflows: fresh,
    documents,
    audit: fresh.map(({ workflowId, hash, atMs }) => ({
      occurredAt: new Date(atMs).toISOString(),
      actor: "host",
      action: "workflow.registered",
      target: workflowId,
      details: { hash, source: "--workflows" },
    })),
  });
}

interface CheckedSuites {
  /** Suites that are not registered yet. */
  readonly suites: readonly UsableSuite[];
  /** Files that cannot be registered, with their first problem. */
  readonly skipped: readonly SkippedFile[];
}

/** Checks every `*.json` of the folders. */
export async function checkSuiteFiles(host: Host, folders: readonly string[]): Promise<CheckedSuites> {
  const skipped: SkippedFile[] = [];
  const seen = new Map<string, { readonly file: string; readonly sha256: string }>();
  const suites: UsableSuite[] = [];
  for (const file of filesIn(folders, "--suites")) {
    try {
      const loaded = usable(loadSuite(readFileSync(file), { scrubber: host.scrubber }));
      const ref = refText(loaded.suite);
      const other = seen.get(ref);
      if (other !== undefined && other.sha256 !== loaded.sha256) throw new Error(`${other.file} is ${ref} too`);
      if (other !== undefined) continue;
      seen.set(ref, { file, sha256: loaded.sha256 });
      if (await isNewHostWide(host, loaded)) suites.push(loaded);
    } catch (error) {
      if (!(error instanceof Error) || (error instanceof AppError && error.code !== "suite_conflict")) throw error;
      skipped.push({ file, reason: printable(error.message.replace(/\.$/, "")) });
    }
  }
  return { suites, skipped };
}

function usable(loaded: LoadedSuite): UsableSuite {
  if (loaded.ok) return loaded;
  const [first] = loaded.problems.filter(({ severity }) => severity === "error");
  const at = first?.line === undefined ? "" : ` (line ${first.line}, column ${first.column})`;
  const more = loaded.errors > 1 ? `; ${loaded.errors - 1} more: assay suite validate lists them` : "";
  throw new Error(`${first?.path || "the suite"} ${first?.problem ?? "is not valid"}${at}${more}`);
}

export async function keepSuites(host: Host, suites: readonly UsableSuite[]): Promise<void> {
  for (const suite of suites) await keepHostWide(host, suite);
}
