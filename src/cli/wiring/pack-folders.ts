import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openPack, type PackDesk, type TrustedPack } from "../../agents/packs/open-pack.ts";
import { BadPack, MANIFEST_FILE } from "../../agents/packs/pack-files.ts";
import { loadPublishers } from "../../agents/packs/publishers.ts";
import { readPack } from "../../agents/packs/read-pack.ts";
import type { PackTrust } from "../../agents/packs/signature.ts";
import { currentPack, installPack } from "../../agents/registry/install-pack.ts";
import { EVERYWHERE } from "../../agents/registry/stored-agents.ts";
import type { Host } from "../../engine/host.ts";
import { packSuites } from "../../evals/suite/suite-store.ts";
import { discoveredOf, discoveryDocument } from "../../http/documents/discovery.ts";
import type { AuditDraft } from "../../protocol/audit/audit.ts";
import { advertises } from "../../protocol/discovery.ts";
import { AppError, type ErrorCode, unusableInput } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import type { Config } from "../settings/settings.ts";
import type { SkippedFile } from "./definition-files.ts";

/** The publishers whose packs this host accepts. Throws `unusable_input` when the file of keys is not valid. */
export function packTrust({
  publisherKeys,
  allowUnsigned,
}: Pick<Config, "publisherKeys" | "allowUnsigned">): PackTrust {
  return { publishers: publisherKeys === undefined ? [] : loadPublishers(publisherKeys), allowUnsigned };
}

export function packDesk(deps: Parameters<typeof discoveredOf>[0], trust: PackTrust): PackDesk {
  const document = discoveryDocument(discoveredOf(deps));
  const { host } = deps;
  const serves = (capability: string) => advertises(document, capability);
  return { trust, suites: packSuites(host.scrubber), scrubber: host.scrubber, serves };
}

interface FoundPack extends TrustedPack {
  readonly file: string;
}

interface CheckedPacks {
  readonly packs: readonly FoundPack[];
  readonly skipped: readonly SkippedFile[];
}

/** Checks every pack in the folders; a folder with a `pack.json` is a pack itself. */
export async function checkPackFolders(host: Host, desk: PackDesk, folders: readonly string[]): Promise<CheckedPacks> {
  const packs: FoundPack[] = [];
  const skipped: SkippedFile[] = [];
  const seen = new Map<string, { readonly file: string; readonly sha256: string }>();
  for (const file of folders.flatMap(packsIn)) {
    try {
      const opened = openPack(await readPack(file), desk);
      const { name, version, sha256 } = opened.pack;
      const ref = `${name}@${version}`;
      const other = seen.get(ref);
      if (other !== undefined && other.sha256 !== sha256) throw new BadPack(`is ${ref}, and so is ${other.file}`);
      if (other !== undefined) continue;
      seen.set(ref, { file, sha256 });
      await currentPack(host, { pack: opened.pack, place: EVERYWHERE });
      packs.push({ ...opened, file });
    } catch (error) {
      skipped.push({ file, reason: reasonOf(error) });
    }
  }
  return { packs, skipped };
}

function packsIn(folder: string): string[] {
  if (existsSync(join(folder, MANIFEST_FILE))) return [folder];
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const packs = entries.filter(
      (entry) => !entry.name.startsWith(".") && (entry.isDirectory() || /\.(tar|tar\.gz|tgz)$/.test(entry.name)),
    );
    return packs.map(({ name }) => join(folder, name)).sort();
  } catch (error) {
    throw unusableInput(`--packs cannot be read: ${(error as Error).message}`);
  }
}
function reasonOf(error: unknown): string {
  if (error instanceof BadPack) return printable(`the pack ${error.message}`);
  if (!(error instanceof AppError)) throw error;
  const { code, details, message } = error;
  const problem = code === "validation_error" || code === "pack_not_trusted" ? String(details["problem"]) : message;
  return printable(problem.replace(/\.$/, ""));
}

/**
 * Installs packs for every tenant, and returns those that conflict with installed ones. Installed packs do not change, so a second start
 * changes nothing.
 */
export async function installEverywhere(host: Host, packs: readonly FoundPack[]): Promise<SkippedFile[]> {
  const skipped: SkippedFile[] = [];
  for (const pack of packs) {
    try {
      await installPack(host, { ...pack, place: EVERYWHERE, by: "host", audit: auditOfHost });
    } catch (error) {
      if (!(error instanceof AppError && CONFLICTS.includes(error.code))) throw error;
      skipped.push({ file: pack.file, reason: reasonOf(error) });
    }
  }
  return skipped;
}

const CONFLICTS: readonly ErrorCode[] = ["pack_conflict", "suite_conflict"];

function auditOfHost(target: string, details: Readonly<Record<string, unknown>>, atMs: number): AuditDraft {
  const occurredAt = new Date(atMs).toISOString();
  return { occurredAt, actor: "host", action: "pack.installed", target, details: { ...details, source: "--packs" } };
}
