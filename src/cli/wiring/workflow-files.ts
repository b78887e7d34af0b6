import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../engine/host.ts";
import { hostWideWorkflow } from "../../engine/register-workflow.ts";
import { HOST_TENANT } from "../../protocol/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import { HOST_WIDE, type WorkflowWrite } from "../../store/store.ts";

export interface SkippedFile {
  readonly file: string;
  readonly reason: string;
}

interface TextFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Registers every `*.json` of the folders for all tenants and returns the files that could not be. All files are read
 * before any is checked, because they may refer to each other. What is registered already is left alone.
 */
export async function registerWorkflowFiles(host: Host, folders: readonly string[]): Promise<SkippedFile[]> {
  const files = folders.flatMap(readFolder);
  const skipped: SkippedFile[] = [];
  const byId = new Map<string, { readonly file: string; readonly write: WorkflowWrite }>();
  for (const { path, text } of files) {
    try {
      const write = hostWideWorkflow(host, parseJson(text), text);
      const other = byId.get(write.workflowId);
      if (other && other.write.hash !== write.hash)
        throw new Error(`${other.file} has the same id, ${write.workflowId}`);
      byId.set(write.workflowId, { file: path, write });
    } catch (error) {
      skipped.push({ file: path, reason: reasonOf(error) });
    }
  }
  await registerNew(
    host,
    [...byId.values()].map(({ write }) => write),
  );
  return skipped;
}

function readFolder(folder: string): TextFile[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.sort().map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), "utf8") }));
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

async function registerNew(host: Host, writes: readonly WorkflowWrite[]): Promise<void> {
  const fresh: WorkflowWrite[] = [];
  for (const write of writes) {
    const standing = await host.store.readWorkflow(HOST_WIDE, write.workflowId);
    if (standing?.hash !== write.hash) fresh.push(write);
  }
  if (fresh.length === 0) return;
  await host.store.commit({
    tenant: HOST_TENANT,
    workflows: fresh,
    audit: fresh.map(({ workflowId, hash, atMs }) => ({
      occurredAt: new Date(atMs).toISOString(),
      actor: "host",
      action: "workflow.registered",
      target: workflowId,
      details: { hash, source: "--workflows" },
    })),
  });
}
