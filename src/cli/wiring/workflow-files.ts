import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../engine/host.ts";
import { type HostWideWorkflow, hostWideWorkflow } from "../../engine/workflows/register-workflow.ts";
import { HOST_TENANT } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import { HOST_WIDE, type WorkflowWrite } from "../../store/port/store.ts";

export interface SkippedFile {
  readonly file: string;
  readonly reason: string;
}

export interface CheckedFiles {
  readonly writes: readonly HostWideWorkflow[];
  /** What cannot be registered, and why. */
  readonly skipped: readonly SkippedFile[];
}

/** Looks at every `*.json` of the folders. All are read before any is checked, because they may refer to each other. */
export async function checkWorkflowFiles(host: Host, folders: readonly string[]): Promise<CheckedFiles> {
  const skipped: SkippedFile[] = [];
  const attempt = async <T>(file: string, deed: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await deed();
    } catch (error) {
      skipped.push({ file, reason: reasonOf(error) });
      return undefined;
    }
  };
  const texts: { readonly file: string; readonly text: string | undefined }[] = [];
  for (const file of folders.flatMap(filesIn)) {
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

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    throw new AppError("unusable_input", { problem: `--workflows cannot be read: ${(error as Error).message}` });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`);
  }
}

/** The bare problem where there is one: these are files, not requests. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError && error.code === "validation_error") return String(error.details["problem"]);
  return error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
}

/**
 * Registers for all tenants. What is registered already is left alone, so a second start changes nothing; gates that an older version
 * registered are pinned now.
 */
export async function registerNew(host: Host, writes: readonly HostWideWorkflow[]): Promise<void> {
  const fresh: WorkflowWrite[] = [];
  for (const { write } of writes) {
    const standing = await host.store.readWorkflow(HOST_WIDE, write.workflowId);
    if (standing?.hash !== write.hash) fresh.push(write);
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
