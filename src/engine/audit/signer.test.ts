import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { sha256 } from "../../testing/builders.ts";
import { CheckpointSeries, merkleRoot } from "./checkpoint-series.ts";
import { type AuditSigner, auditSigner, auditVerifier, checkpointName, newKeyPem, rotatedPem } from "./signer.ts";

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

describe("a key file that was rotated", () => {
  test("signs with its new key and accepts what the keys before signed, each under its own name only", async () => {
    const first = newKeyPem();
    const second = rotatedPem(first);
    const third = rotatedPem(second);
    const [one, two, three] = await Promise.all(
      [first, second, third].map((privateKeyPem) => auditSigner(noStore, { privateKeyPem })),
    );
    if (one === undefined || two === undefined || three === undefined) throw new Error("a key is missing");
    expect(three.earlierPublicKeys).toEqual([two.publicKey, one.publicKey]);
    const named = (signer: AuditSigner) => checkpointName("cp-1", signer.publicKey);
    expect([three, two, one].map((signer) => three.signedBy(root, signer.sign(root), named(signer)))).toEqual([
      0, 1, 2,
    ]);
    expect(three.signedBy(root, one.sign(root), named(two))).toBeUndefined();
    expect(three.signedBy(root, one.sign(root), "cp-of-an-older-version")).toBe(2);
    expect(one.signedBy(root, two.sign(root), named(two))).toBeUndefined();
    const elsewhere = auditVerifier(three.publicKey, three.earlierPublicKeys);
    expect(elsewhere.signedBy(root, two.sign(root), named(two))).toBe(1);
  });

  test("takes public keys that are trusted besides, and nothing else after the private key", async () => {
    const before = await auditSigner(noStore, { privateKeyPem: pem("ed25519") });
    const after = await auditSigner(noStore, { privateKeyPem: newKeyPem([before.publicKey]) });
    expect(after.verify(root, before.sign(root))).toBe(true);
    const two = pem("ed25519") + pem("ed25519");
    await expect(auditSigner(noStore, { privateKeyPem: two })).rejects.toMatchObject({ code: "unusable_input" });
    expect(() => newKeyPem(["AAAA"])).toThrow("not an Ed25519 key");
  });
});

describe("checkpoints of several keys", () => {
  test("hold in the order of the keys; an older key signs nothing once a newer one did", async () => {
    const first = newKeyPem();
    const [old, current] = await Promise.all(
      [first, rotatedPem(first)].map((privateKeyPem) => auditSigner(noStore, { privateKeyPem })),
    );
    if (old === undefined || current === undefined) throw new Error("a key is missing");
    const holds = (...signers: readonly AuditSigner[]): boolean => {
      const series = new CheckpointSeries(current, 0);
      for (const [i, signer] of signers.entries()) {
        const hash = sha256(`entry ${i}`);
        const merkle = merkleRoot([hash]);
        const checkpoint = checkpointName(`cp-${i}`, signer.publicKey);
        series.entry(i + 1, hash);
        series.checkpoint({ checkpoint, atSequence: i + 1, merkleRoot: merkle, signature: signer.sign(merkle) });
      }
      series.end();
      return series.valid;
    };
    expect(holds(old, old, current)).toBe(true);
    expect(holds(old, current, old)).toBe(false);
  });
});
