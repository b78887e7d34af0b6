import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { parsedJson } from "../../formats/json/check-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { matches, type Static, Type } from "../../protocol/schema.ts";
import type { PackFiles } from "./pack-files.ts";
import type { Publisher } from "./publishers.ts";

const Signature = Type.Object(
  {
    algorithm: Type.Literal("ed25519"),
    key: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    signature: Type.String({ pattern: "^[A-Za-z0-9+/]{86}==$" }),
  },
  { additionalProperties: false },
);

/** The publishers whose packs can be installed here. */
export interface PackTrust {
  readonly publishers: readonly Publisher[];
  readonly allowUnsigned: boolean;
}

/**
 * The publisher who signed the pack; undefined for an unsigned one where that is allowed. Throws `pack_not_trusted` otherwise.
 */
export function signerOf(files: PackFiles, { publishers, allowUnsigned }: PackTrust): Publisher | undefined {
  const bytes = files.get(SIGNATURE_FILE);
  if (bytes === undefined) {
    if (allowUnsigned) return undefined;
    throw refuse("it is not signed, and this host takes unsigned packs only with --allow-unsigned");
  }
  const { key, signature } = readSignature(bytes);
  const publisher = publishers.find(({ fingerprint }) => fingerprint === key);
  if (publisher === undefined) {
    throw refuse(`it is signed with key ${key.slice(0, 16)}…, which is not among the publisher keys of this host`);
  }
  const signed = Buffer.from(fileList(files));
  if (verify(null, signed, publisher.publicKey, Buffer.from(signature, "base64"))) return publisher;
  throw refuse(`its files are not the ones that ${publisher.name} signed`);
}

/** A signature is shorter than 300 bytes. Longer input is untrusted and not parsed. */
const SIGNATURE_BYTES_MAX = 1_024;

function readSignature(bytes: Uint8Array): Static<typeof Signature> {
  const value = bytes.length <= SIGNATURE_BYTES_MAX ? parsedJson(Buffer.from(bytes).toString("utf8")) : undefined;
  if (matches(Signature, value)) return value;
  throw refuse(`${SIGNATURE_FILE} is not a signature that can be read`);
}

/** The text of the signature file. `pem` is an Ed25519 private key; throws `unusable_input` for any other. */
export function signPack(files: PackFiles, pem: string): string {
  const key = privateKey(pem);
  const signature = sign(null, Buffer.from(fileList(files)), key).toString("base64");
  const made: Static<typeof Signature> = {
    algorithm: "ed25519",
    key: fingerprintOf(createPublicKey(key)),
    signature,
  };
  return `${JSON.stringify(made)}\n`;
}

function privateKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // The content is not quoted: it may be a key.
  }
  throw unusableInput("the key is not an Ed25519 private key in PEM; make one with openssl genpkey -algorithm ed25519");
}

/** SHA-256 of the public key as DER. */
export function fingerprintOf(key: KeyObject): string {
  return sha256(key.export({ type: "spki", format: "der" }));
}

function refuse(problem: string): AppError {
  return new AppError("pack_not_trusted", { problem });
}

/** The file of the signature; the only one that the list leaves out. */
export const SIGNATURE_FILE = "pack.files.sig";

/**
 * The content of a pack as a text that is signed and hashed: a first line, then for each file the SHA-256 of its content, two
 * spaces and its path, in the order of the bytes of the paths. The lines have the format of `sha256sum`.
 */
export function fileList(files: PackFiles): string {
  const lines = [...files]
    .filter(([path]) => path !== SIGNATURE_FILE)
    .map(([path, content]) => ({ bytes: Buffer.from(path), line: `${sha256(content)}  ${path}\n` }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return `assay-pack-v1\n${lines.map(({ line }) => line).join("")}`;
}

export function packHash(files: PackFiles): string {
  return sha256(Buffer.from(fileList(files)));
}
