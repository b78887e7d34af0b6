import { checkpointLine, entryLine, headerLine } from "../../engine/audit/copy-line.ts";
import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import { defined } from "../../protocol/defined.ts";
import { type Client, connect } from "../client/client.ts";
import { refuseExisting, writeWhole } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import type { AUDIT_EXPORT_FLAGS } from "./commands.ts";
import { type AuditPage, findAuditHead, readAuditPage } from "./verify.ts";

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
