import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";

/** Verifies signatures of the 32 bytes of a root; roots are hex and signatures base64, as on the wire. */
export interface AuditVerifier {
  /** Base64 of the SPKI DER, as discovery publishes it. */
  readonly publicKey: string;
  /** Keys that signed before this one, newest first. */
  readonly earlierPublicKeys: readonly string[];
  /**
   * The index of the signing key: 0 for the current one, 1 for the one before. Undefined where none of the keys signed the root, where another key
   * than the checkpoint names did, and for texts that are no root or no signature.
   */
  signedBy(merkleRoot: string, signature: string, checkpoint?: string): number | undefined;
  verify(merkleRoot: string, signature: string): boolean;
}

export interface AuditSigner extends AuditVerifier {
  sign(merkleRoot: string): string;
}

/**
 * The key that signs checkpoints and nothing else. `privateKeyPem` comes from the configuration: a private key, and after it the earlier public keys,
 * newest first. Without it a key is made and stored in the database, the same for all processes.
 */
export async function auditSigner(
  store: Pick<Store, "hostSecret">,
  { privateKeyPem }: { readonly privateKeyPem?: string } = {},
): Promise<AuditSigner> {
  return signerWith(privateKeyPem ?? (await store.hostSecret("audit-signing-key", newPrivateKeyPem)));
}

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;

function signerWith(pem: string): AuditSigner {
  const blocks = [...pem.matchAll(PEM_BLOCK)].map(([text, kind]) => ({ text, kind }));
  const [own = { text: pem }, ...others] = blocks;
  const privateKey = readKey("The audit signing key", () => createPrivateKey(own.text));
  const earlier = others.map(({ text, kind }) => {
    if (kind !== "PUBLIC KEY") throw notEd25519("What follows the audit signing key in its file");
    return readKey("An earlier audit key", () => createPublicKey(text));
  });
  return {
    ...verifierWith([createPublicKey(privateKey), ...earlier]),
    sign: (merkleRoot) => sign(null, rootBytes(merkleRoot), privateKey).toString("base64"),
  };
}

/** The key file after a rotation: a new private key, then the public keys so far, newest first. Throws for a file that holds no key. */
export function rotatedPem(pem: string, trusted: readonly string[] = []): string {
  const { publicKey, earlierPublicKeys } = signerWith(pem);
  return newPrivateKeyPem() + publicPem([publicKey, ...earlierPublicKeys, ...trusted]);
}

/** A new key file, with earlier keys that are trusted. */
export function newKeyPem(trusted: readonly string[] = []): string {
  return newPrivateKeyPem() + publicPem(trusted);
}

function publicPem(keys: readonly string[]): string {
  return keys.map((key) => publicKeyOf(key).export({ format: "pem", type: "spki" }).toString()).join("");
}

/** A verifier for copies, with public keys only, newest first. Throws `unusable_input` for other texts. */
export function auditVerifier(publicKey: string, earlier: readonly string[] = []): AuditVerifier {
  return verifierWith([publicKey, ...earlier].map(publicKeyOf));
}

function publicKeyOf(text: string): KeyObject {
  const der = Buffer.from(text, "base64");
  return readKey("The public key", () => createPublicKey({ key: der, format: "der", type: "spki" }));
}

function verifierWith(keys: readonly KeyObject[]): AuditVerifier {
  const texts = keys.map((key) => key.export({ format: "der", type: "spki" }).toString("base64"));
  const [publicKey = "", ...earlierPublicKeys] = texts;
  const ids = texts.map(auditKeyId);
  const signedBy: AuditVerifier["signedBy"] = (merkleRoot, signature, checkpoint = "") => {
    if (!ROOT.test(merkleRoot)) return undefined;
    const named = KEY_ID.exec(checkpoint)?.[1];
    const bytes = Buffer.from(signature, "base64");
    const place = keys.findIndex(
      (key, i) => (named === undefined || ids[i] === named) && verify(null, rootBytes(merkleRoot), key, bytes),
    );
    return place < 0 ? undefined : place;
  };
  return {
    publicKey,
    earlierPublicKeys,
    signedBy,
    verify: (merkleRoot, signature) => signedBy(merkleRoot, signature) !== undefined,
  };
}

const KEY_ID = /\.k([0-9a-f]{16})$/;

/** The first 16 hex digits of the SHA-256 of the SPKI DER. */
export function auditKeyId(publicKey: string): string {
  return createHash("sha256").update(Buffer.from(publicKey, "base64")).digest("hex").slice(0, 16);
}

/** The name of a checkpoint, which ends with the id of its key. Older names have none. */
export function checkpointName(id: string, publicKey: string): string {
  return `${id}.k${auditKeyId(publicKey)}`;
}

/** Reads a key. The error has no cause, which could quote the key. */
function readKey(what: string, read: () => KeyObject): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = read();
  } catch {}
  if (key?.asymmetricKeyType !== "ed25519") throw notEd25519(what);
  return key;
}

function notEd25519(what: string): AppError {
  return new AppError("unusable_input", { problem: `${what} is not an Ed25519 key` });
}

function newPrivateKeyPem(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}

const ROOT = /^[0-9a-f]{64}$/;

function rootBytes(merkleRoot: string): Buffer {
  return Buffer.from(merkleRoot, "hex");
}
