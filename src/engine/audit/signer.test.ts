import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { sha256 } from "../../testing/builders.ts";
import { auditSigner, auditVerifier } from "./signer.ts";

const root = sha256("root");
const noStore = { hostSecret: () => Promise.reject(new Error("the store is not asked")) };
const pem = (type: "ed25519" | "x25519") =>
  generateKeyPairSync(type as "ed25519")
    .privateKey.export({ format: "pem", type: "pkcs8" })
    .toString();

describe("the audit signer of a database", () => {
  test("is the same for every process that opens it", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const [one, two] = await Promise.all([auditSigner(store), auditSigner(store)]);
    expect(one.publicKey).toBe(two.publicKey);
    expect(two.verify(root, one.sign(root))).toBe(true);
    await store.close();
  });
});

describe("an audit signer", () => {
  test("signs the raw bytes of the root, for a key published as base64 of its SPKI DER", async () => {
    const signer = await auditSigner(noStore, { privateKeyPem: pem("ed25519") });
    const key = createPublicKey({ key: Buffer.from(signer.publicKey, "base64"), format: "der", type: "spki" });
    const signature = Buffer.from(signer.sign(root), "base64");
    expect(verify(null, Buffer.from(root, "hex"), key, signature)).toBe(true);
    expect(auditVerifier(signer.publicKey).verify(root, signer.sign(root))).toBe(true);
  });

  test("accepts no other root, no other key's signature, and nothing that is not one", async () => {
    const signer = await auditSigner(noStore, { privateKeyPem: pem("ed25519") });
    const other = await auditSigner(noStore, { privateKeyPem: pem("ed25519") });
    expect(signer.verify(sha256("other"), signer.sign(root))).toBe(false);
    expect(signer.verify(root, other.sign(root))).toBe(false);
    expect(signer.verify(root, "")).toBe(false);
    expect(signer.verify("", signer.sign(root))).toBe(false);
    expect(signer.verify(root.toUpperCase(), signer.sign(root))).toBe(false);
  });

  test("refuses a key that is not Ed25519, without quoting it", async () => {
    for (const privateKeyPem of [pem("x25519"), "secret nonsense"]) {
      const signing = auditSigner(noStore, { privateKeyPem });
      await expect(signing).rejects.toMatchObject({ code: "unusable_input" });
      await expect(signing).rejects.not.toThrow("secret");
    }
    expect(() => auditVerifier("AAAA")).toThrow("not an Ed25519 key");
  });
});
