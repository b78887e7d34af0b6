import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/store.ts";

/** Signatures are taken over the 32 bytes of a root; here roots are hex and signatures base64, as on the wire. */
export interface AuditVerifier {
  /** Base64 of the SPKI DER, as discovery publishes it. */
  readonly publicKey: string;
  /** False as well for what is no root or no signature at all. */
  verify(merkleRoot: string, signature: string): boolean;
}

export interface AuditSigner extends AuditVerifier {
  sign(merkleRoot: string): string;
}

/**
 * The key that signs checkpoints and nothing else. `privateKeyPem` comes from the configuration; without it one is made
 * and kept in the database, the same for every process. Checkpoints are checked against this key alone, so a new key
 * makes those of the old one fail.
 */
export async function auditSigner(
  store: Pick<Store, "hostSecret">,
  { privateKeyPem }: { readonly privateKeyPem?: string } = {},
): Promise<AuditSigner> {
  return signerWith(privateKeyPem ?? (await store.hostSecret("audit-signing-key", newPrivateKeyPem)));
}

function signerWith(privateKeyPem: string): AuditSigner {
  const privateKey = readKey("The audit signing key", () => createPrivateKey(privateKeyPem));
  return {
    ...verifierWith(createPublicKey(privateKey)),
    sign: (merkleRoot) => sign(null, rootBytes(merkleRoot), privateKey).toString("base64"),
  };
}

/** For checking a copy elsewhere, where there is only the public key. Throws `unusable_input` when it is none. */
export function auditVerifier(publicKey: string): AuditVerifier {
  const der = Buffer.from(publicKey, "base64");
  return verifierWith(readKey("The public key", () => createPublicKey({ key: der, format: "der", type: "spki" })));
}

function verifierWith(publicKey: KeyObject): AuditVerifier {
  return {
    publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    verify: (merkleRoot, signature) =>
      ROOT.test(merkleRoot) && verify(null, rootBytes(merkleRoot), publicKey, Buffer.from(signature, "base64")),
  };
}

/** The reason is left out: it may quote the key. */
function readKey(what: string, read: () => KeyObject): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = read();
  } catch {}
  if (key?.asymmetricKeyType !== "ed25519") {
    throw new AppError("unusable_input", { problem: `${what} is not an Ed25519 key` });
  }
  return key;
}

function newPrivateKeyPem(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}

const ROOT = /^[0-9a-f]{64}$/;

function rootBytes(merkleRoot: string): Buffer {
  return Buffer.from(merkleRoot, "hex");
}
