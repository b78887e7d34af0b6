import { verifyAuditCopy } from "../../engine/audit/export.ts";
import { byteLines } from "../../formats/text/byte-lines.ts";
import { AppError } from "../../protocol/errors.ts";
import { readWhole } from "../files/read-file.ts";
import type { Verdict } from "./audit-verify.ts";

/** Checks an export with nothing but the file and, better, public keys that came another way: `KEY[,EARLIER…]`. */
export async function verifyExport(file: string, publicKeys: string | undefined): Promise<Verdict> {
  const [publicKey, ...earlierPublicKeys] = publicKeys?.split(",") ?? [];
  const trusted = publicKey === undefined ? {} : { publicKey, earlierPublicKeys };
  const result = await verifyAuditCopy(textLines(file), trusted).catch((error: unknown) => {
    throw aboutFile(file, error);
  });
  const entries = result.toSeq - result.fromSeq + 1;
  // Who names a key asks for its word, and there is none: hashes alone are made by anybody.
  const isUnsigned = publicKey !== undefined && entries > 0 && result.signedThrough === 0;
  return { ...result, checkpointsValid: result.checkpointsValid && !isUnsigned, entries };
}

/** Its complaints are about lines and do not know whose. */
export function aboutFile(file: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.message.startsWith(file)) return error;
  return new AppError("unusable_input", { problem: `${file}: ${error.message.replace(/\.$/, "")}` }, { cause: error });
}

export async function* textLines(file: string): AsyncGenerator<string> {
  for await (const line of byteLines(readWhole(file))) yield Buffer.from(line).toString("utf8");
}
