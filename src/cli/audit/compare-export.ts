import { readCopyLine } from "../../engine/audit/copy-line.ts";
import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditEntry } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Client } from "../client/client.ts";
import { readAuditPage } from "./audit-head.ts";
import { aboutFile, textLines, verifyExport } from "./verify-export.ts";

/** How the log of a server relates to an export that was made of it earlier. */
export interface Comparison {
  readonly file: string;
  readonly entries: number;
  readonly checkpoints: number;
  /** Whether the export itself holds. */
  readonly exportValid: boolean;
  /** The first entry of the export that the server does not have, or has otherwise. */
  readonly differsAt?: number;
  /** Checkpoints of the export that the server does not have, or has with another root; by their last entry. */
  readonly missingCheckpoints: readonly number[];
}

export function isContained({ exportValid, differsAt, missingCheckpoints }: Comparison): boolean {
  return exportValid && differsAt === undefined && missingCheckpoints.length === 0;
}

/** Holds every entry and checkpoint of an export against the live log. Throws for an export of another tenant. */
export async function compareExport(client: Client, file: string, publicKeys: string | undefined): Promise<Comparison> {
  const { entries, checkpoints, chainValid, checkpointsValid } = await verifyExport(file, publicKeys);
  const live = new LiveLog(client);
  const missingCheckpoints: number[] = [];
  let differsAt: number | undefined;
  let lineNumber = 0;
  for await (const text of textLines(file)) {
    lineNumber += 1;
    if (text.trim() === "") continue;
    const line = readCopyLine(text, lineNumber);
    if (line.kind === "header") await requireTenant(client, file, line.header.tenant);
    else if (line.kind === "checkpoint") {
      const { atSequence, merkleRoot } = line.checkpoint;
      if ((await live.rootAt(atSequence)) !== merkleRoot) missingCheckpoints.push(atSequence);
    } else if (differsAt === undefined) {
      const found = await live.entry(line.entry.atSequence);
      if (found === undefined || entryHash(found) !== entryHash(line.entry)) differsAt = line.entry.atSequence;
    }
  }
  const exportValid = chainValid && checkpointsValid;
  const different = differsAt === undefined ? {} : { differsAt };
  return { file, entries, checkpoints, exportValid, ...different, missingCheckpoints };
}

async function requireTenant(client: Client, file: string, tenant: string): Promise<void> {
  const own = (await client.identity.whoAmI()).tenant;
  if (own === tenant) return;
  const problem = `it is an export of tenant ${tenant}, and your key is of ${own}`;
  throw aboutFile(file, new AppError("unusable_input", { problem }));
}

const PAGE = 1000;

/** The log of a server, read in pages and in order; nothing but the roots of checkpoints is kept. */
class LiveLog {
  readonly #client: Client;
  #page: ReadonlyMap<number, AuditEntry> = new Map();
  #readThrough = 0;
  readonly #roots = new Map<number, string>();

  constructor(client: Client) {
    this.#client = client;
  }

  async entry(seq: number): Promise<AuditEntry | undefined> {
    await this.#reach(seq);
    return this.#page.get(seq);
  }

  async rootAt(seq: number): Promise<string | undefined> {
    await this.#reach(seq);
    return this.#roots.get(seq);
  }

  async #reach(seq: number): Promise<void> {
    while (this.#readThrough < seq) {
      const { entries, checkpoints } = await readAuditPage(this.#client, this.#readThrough + 1, PAGE);
      this.#page = new Map(entries.map((entry) => [entry.atSequence, entry]));
      for (const { atSequence, merkleRoot } of checkpoints) this.#roots.set(atSequence, merkleRoot);
      this.#readThrough = entries.at(-1)?.atSequence ?? Number.MAX_SAFE_INTEGER;
    }
  }
}
