import { existsSync, readFileSync } from "node:fs";
import { auditKeyId, auditSigner, newKeyPem, rotatedPem } from "../../engine/audit/signer.ts";
import { AppError } from "../../protocol/errors.ts";
import { writeWhole } from "../files/write-file.ts";
import type { Call } from "../program/command.ts";
import type { AUDIT_ROTATE_FLAGS } from "./commands.ts";

export async function auditRotateKey({ args, flags, json, io }: Call<typeof AUDIT_ROTATE_FLAGS>): Promise<undefined> {
  const [file = ""] = args;
  const pem = existsSync(file) ? rotatedPem(read(file), flags.trust) : newKeyPem(flags.trust);
  const { publicKey, earlierPublicKeys } = await auditSigner(NO_STORE, { privateKeyPem: pem });
  await writeWhole(file, [pem], { ownerOnly: true });
  const keyId = auditKeyId(publicKey);
  if (json) {
    io.out(JSON.stringify({ file, keyId, publicKey, earlierPublicKeys }));
    return;
  }
  io.out(publicKey);
  io.err(`assay: ${file} has key ${keyId} now, and ${earlierPublicKeys.length} before it. Start the hosts again.`);
}

const NO_STORE = { hostSecret: () => Promise.reject(new Error("the key is in the file")) };

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new AppError("unusable_input", { problem: `${file} cannot be read: ${(error as Error).message}` });
  }
}
