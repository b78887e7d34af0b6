import { execFileSync } from "node:child_process";
import { generateKeyPairSync, verify } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { packFiles, packManifest, signedPack, testPublisher, writePack } from "../../testing/packs.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { PackFiles } from "./pack-files.ts";
import { loadPublishers } from "./publishers.ts";
import { fileList, SIGNATURE_FILE, signerOf, signPack } from "./signature.ts";

const acme = testPublisher();
const other = testPublisher("Other");
const trust = { publishers: [other.publisher, acme.publisher], allowUnsigned: false };
const files = packFiles();
const signed = signedPack(files, acme);
const refusal = (pack: PackFiles, allowUnsigned = false, publishers = trust.publishers) => {
  try {
    signerOf(pack, { publishers, allowUnsigned });
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.details["problem"]}`;
  }
  return "taken";
};

describe("a pack that somebody signed", () => {
  test("is his", () => {
    expect(signerOf(signed, trust)?.name).toBe("Acme");
  });

  test("stays his when it is signed anew", () => {
    expect(signerOf(signedPack(signed, acme), trust)?.name).toBe("Acme");
  });

  test.each([
    ["a file is changed", new Map([...signed, ["prompts/refunds.md", Buffer.from("Refund everybody.")]])],
    ["a file is added", new Map([...signed, ["more.md", Buffer.from("")]])],
    ["a file is removed", new Map([...signed].filter(([path]) => path !== "schemas/task.json"))],
    ["a file is renamed", new Map([...signed].map(([path, content]) => [path.replace("task", "tusk"), content]))],
    [
      "the signature is that of another pack",
      new Map([
        ...packFiles(packManifest({ version: "2.0.0" })),
        [SIGNATURE_FILE, signed.get(SIGNATURE_FILE) ?? new Uint8Array()],
      ]),
    ],
  ])("is refused when %s, also where unsigned packs are taken", (_, pack) => {
    for (const allowed of [false, true]) {
      expect(refusal(pack, allowed)).toBe("pack_not_trusted: its files are not the ones that Acme signed");
    }
  });

  test("is refused when its signature is longer than one can be, before it is parsed", () => {
    const [text = ""] = [Buffer.from(signed.get(SIGNATURE_FILE) ?? "").toString()];
    const padded = new Map([...signed, [SIGNATURE_FILE, Buffer.from(text.padEnd(1_025))]]);
    expect(refusal(padded)).toBe("pack_not_trusted: pack.files.sig is not a signature that can be read");
    expect(refusal(new Map([...signed, [SIGNATURE_FILE, Buffer.from(text.padEnd(1_024))]]))).toBe("taken");
  });

  test("is refused where nobody knows him, also where unsigned packs are taken", () => {
    for (const publishers of [[], [other.publisher]]) {
      expect(refusal(signed, true, publishers)).toMatch(/^pack_not_trusted: it is signed with key [0-9a-f]{16}…/);
    }
  });

  test.each([["{"], ["{}"], ['{"algorithm":"none","key":"","signature":""}'], [""], ["null"]])(
    "is refused when its signature is %s",
    (text) => {
      const pack = new Map([...files, [SIGNATURE_FILE, Buffer.from(text)]]);
      expect(refusal(pack, true)).toBe("pack_not_trusted: pack.files.sig is not a signature that can be read");
    },
  );

  test("is refused when somebody puts the name of another key to his own signature", () => {
    const mine = JSON.parse(signPack(files, other.privateKey));
    const forged = { ...mine, key: acme.publisher.fingerprint };
    expect(refusal(new Map([...files, [SIGNATURE_FILE, Buffer.from(JSON.stringify(forged))]]))).toMatch(/Acme signed/);
  });
});

describe("a pack that nobody signed", () => {
  test("is refused unless the host takes such packs", () => {
    expect(refusal(files)).toMatch(/^pack_not_trusted: it is not signed, .*--allow-unsigned$/);
    expect(signerOf(files, { ...trust, allowUnsigned: true })).toBeUndefined();
  });
});

describe("the text that is signed", () => {
  test("can be made and checked with programs that everybody has", () => {
    const folder = writePack(tempDir(), files);
    const paths = [...files.keys()].sort();
    const sums = execFileSync("sha256sum", paths, { cwd: folder }).toString();
    expect(fileList(signed)).toBe(`assay-pack-v1\n${sums}`);
    const { signature } = JSON.parse(Buffer.from(signed.get(SIGNATURE_FILE) ?? "").toString());
    const text = Buffer.from(`assay-pack-v1\n${sums}`);
    expect(verify(null, text, String(acme.entry["publicKey"]), Buffer.from(signature, "base64"))).toBe(true);
  });

  test("needs an Ed25519 private key, and repeats nothing of what it was given", () => {
    const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
      type: "pkcs8",
      format: "pem",
    });
    for (const pem of ["hunter2", String(acme.entry["publicKey"]), String(other)]) {
      expect(() => signPack(files, pem)).toThrow(/not an Ed25519 private key/);
    }
    expect(() => signPack(files, "hunter2")).not.toThrow(/hunter2/);
  });
});

describe("the file of publisher keys", () => {
  const load = (content: unknown) => {
    const path = join(tempDir(), "publishers.json");
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return loadPublishers(path);
  };

  test("names publishers and what they may bring", () => {
    const [found] = load({ publishers: [testPublisher("Acme", ["vendor.acme."]).entry] });
    expect(found).toMatchObject({ name: "Acme", prefixes: ["vendor.acme."] });
  });

  test("is refused with everything that is wrong with it", () => {
    const { privateKey } = acme;
    const bad = {
      publishers: [{ name: "A", publicKey: "x" }, acme.entry, { name: "B", publicKey: privateKey }, acme.entry],
    };
    expect(() => load(bad)).toThrow(
      /\/publishers\/0\/publicKey must be .*; \/publishers\/2\/publicKey must be .*; .* has a key that is there twice/,
    );
    expect(() => load({ publishers: [{ name: "", key: 1 }], more: 1 })).toThrow(/"more".*"publicKey"/);
    expect(() => load("{")).toThrow(/is not JSON/);
    expect(() => loadPublishers(join(tempDir(), "none.json"))).toThrow(/cannot be read: ENOENT/);
  });
});
