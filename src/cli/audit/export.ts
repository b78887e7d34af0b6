import { checkpointLine, entryLine, headerLine, readCopyLine, verifyAuditCopy } from "../../engine/audit/export.ts";
import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import { byteLines } from "../../formats/text/byte-chunks.ts";
import type { AuditEntry } from "../../protocol/audit/audit.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { type Client, connect } from "../client/client.ts";
import { readWhole } from "../files/read-file.ts";
import { refuseExisting, writeWhole } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import type { AUDIT_EXPORT_FLAGS } from "./commands.ts";
import { type AuditPage, type Comparison, findAuditHead, readAuditPage, type Verdict } from "./verify.ts";

export async function auditExport(call: Call<typeof AUDIT_EXPORT_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [file = ""] = args;
  refuseExisting(file, flags.force);
  const written = { entries: 0, checkpoints: 0 };
  await writeWhole(file, copyLines(connect(config), written), { ownerOnly: true });
  if (json) return void io.out(JSON.stringify({ file, ...written }));
  io.out(`${file}: ${formatCount(written.entries, "audit entry")}, ${formatCount(written.checkpoints, "checkpoint")}`);
  if (io.outIsTerminal) io.err(`Check it anywhere with: assay audit verify --file ${file}`);
  return undefined;
}

const PAGE = 1000;

/** Lines up to the last entry at the start. The header names that entry, so that a truncated export is recognised later. */
async function* copyLines(client: Client, written: { entries: number; checkpoints: number }): AsyncGenerator<string> {
  const { tenant } = await client.identity.whoAmI();
  const headSeq = await findAuditHead(client);
  const { publicKey, earlierPublicKeys, entries: last } = await readAuditPage(client, Math.max(1, headSeq), 1);
  const [headEntry] = last;
  const head = headEntry && { seq: headSeq, hash: entryHash(headEntry) };
  yield `${headerLine({ tenant, publicKey, ...defined({ earlierPublicKeys }), fromSeq: 1, ...defined({ head }) })}\n`;

  for (let fromSeq: number | undefined = 1; fromSeq !== undefined && fromSeq <= headSeq; ) {
    const page: AuditPage = await readAuditPage(client, fromSeq, Math.min(PAGE, headSeq - fromSeq + 1));
    for (const entry of page.entries) yield `${entryLine(entry)}\n`;
    for (const checkpoint of page.checkpoints) yield `${checkpointLine(checkpoint)}\n`;
    written.entries += page.entries.length;
    written.checkpoints += page.checkpoints.length;
    fromSeq = page.nextSeq;
  }
}

/** Checks an export without a server, with the public keys `KEY[,EARLIER…]`, else with those that the file names. */
export async function verifyExport(file: string, publicKeys: string | undefined): Promise<Verdict> {
  const [publicKey, ...earlierPublicKeys] = publicKeys?.split(",") ?? [];
  const trusted = publicKey === undefined ? {} : { publicKey, earlierPublicKeys };
  const result = await verifyAuditCopy(textLines(file), trusted).catch((error: unknown) => {
    throw aboutFile(file, error);
  });
  const entries = result.toSeq - result.fromSeq + 1;
  // A trusted key asks for a signature; without any, hashes alone prove nothing.
  const isUnsigned = publicKey !== undefined && entries > 0 && result.signedThrough === 0;
  return { ...result, checkpointsValid: result.checkpointsValid && !isUnsigned, entries };
}

/** Adds the file's name to an error about one of its lines. */
function aboutFile(file: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.message.startsWith(file)) return error;
  return unusableInput(`${file}: ${error.message.replace(/\.$/, "")}`, error);
}

async function* textLines(file: string): AsyncGenerator<string> {
  for await (const line of byteLines(readWhole(file))) yield Buffer.from(line).toString("utf8");
}

/** Compares every entry and checkpoint of an export with the server's log. Throws for an export of another tenant. */
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
  return { file, entries, checkpoints, exportValid, ...defined({ differsAt }), missingCheckpoints };
}

async function requireTenant(client: Client, file: string, tenant: string): Promise<void> {
  const own = (await client.identity.whoAmI()).tenant;
  if (own === tenant) return;
  throw unusableInput(`${file}: it is an export of tenant ${tenant}, and your key is of ${own}`);
}

/** The log of a server, read page by page in order; only the roots of checkpoints are kept. */
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
