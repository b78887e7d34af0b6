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

export interface CheckedFiles {
  readonly writes: readonly WorkflowWrite[];
  /** What cannot be registered, and why. */
  readonly skipped: readonly SkippedFile[];
}

/** Looks at every `*.json` of the folders. All are read before any is checked, because they may refer to each other. */
export function checkWorkflowFiles(host: Host, folders: readonly string[]): CheckedFiles {
  const skipped: SkippedFile[] = [];
  const attempt = <T>(file: string, deed: () => T): T | undefined => {
    try {
      return deed();
    } catch (error) {
      skipped.push({ file, reason: reasonOf(error) });
      return undefined;
    }
  };
  const texts = folders
    .flatMap(filesIn)
    .map((file) => ({ file, text: attempt(file, () => readFileSync(file, "utf8")) }));
  const byId = new Map<string, { readonly file: string; readonly write: WorkflowWrite }>();
  for (const { file, text } of texts) {
    if (text === undefined) continue;
    attempt(file, () => {
      const write = hostWideWorkflow(host, parseJson(text), text);
      const other = byId.get(write.workflowId);
      if (other && other.write.hash !== write.hash)
        throw new Error(`${other.file} has the same id, ${write.workflowId}`);
      byId.set(write.workflowId, { file, write });
    });
  }
  return { writes: [...byId.values()].map(({ write }) => write), skipped };
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

/** Registers for all tenants. What is registered already is left alone, so a second start changes nothing. */
export async function registerNew(host: Host, writes: readonly WorkflowWrite[]): Promise<void> {
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
