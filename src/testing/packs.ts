import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PackFiles } from "../agents/packs/pack-files.ts";
import { type Publisher, parsePublishers } from "../agents/packs/publishers.ts";
import { SIGNATURE_FILE, signPack } from "../agents/packs/signature.ts";
import { evalSuite } from "./suite-builders.ts";

export type Manifest = Record<string, unknown>;

/** A manifest of one agent; `more` replaces members. */
export function agentManifest(more: Manifest = {}): Manifest {
  return {
    agentId: "local.acme.support.refunds",
    persona: "Refunds clerk",
    modelClass: "general",
    systemPromptRef: "prompts/refunds.md",
    handoff: { taskSchemaRef: "schemas/task.json", returnSchemaRef: "./schemas/answer.json" },
    evalSuiteRef: "evals/refunds.json",
    ...more,
  };
}

export function packManifest(more: Manifest = {}): Manifest {
  return {
    name: "local.acme.support",
    version: "1.0.0",
    engines: { openwop: ">=1.0 <2.0.0" },
    runtime: { language: "remote", entry: "agents" },
    agents: [agentManifest()],
    ...more,
  };
}

export const PROMPT = "You decide on refunds. Nobody but the agent needs to know how.";

/** The files of a good pack; `more` replaces or, with undefined, removes some. */
export function packFiles(
  manifest: unknown = packManifest(),
  more: Readonly<Record<string, string | Uint8Array | undefined>> = {},
): PackFiles {
  const files: Record<string, string | Uint8Array | undefined> = {
    "pack.json": JSON.stringify(manifest),
    "prompts/refunds.md": PROMPT,
    "schemas/task.json": JSON.stringify({ type: "object", required: ["item"] }),
    "schemas/answer.json": JSON.stringify({ type: "object", required: ["refund"] }),
    "evals/refunds.json": JSON.stringify(evalSuite()),
    ...more,
  };
  const present = Object.entries(files).filter(
    (entry): entry is [string, string | Uint8Array] => entry[1] !== undefined,
  );
  return new Map(present.map(([path, content]) => [path, Buffer.from(content)]));
}

export function writePack(folder: string, files: PackFiles): string {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export interface TestPublisher {
  readonly publisher: Publisher;
  readonly privateKey: string;
  /** As an operator writes it down. */
  readonly entry: Manifest;
}

export function testPublisher(name = "Acme", packs?: readonly string[]): TestPublisher {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const entry = {
    name,
    publicKey: publicKey.export({ type: "spki", format: "pem" }) as string,
    ...(packs === undefined ? {} : { packs }),
  };
  const parsed = parsePublishers({ publishers: [entry] });
  if (!parsed.ok || parsed.publishers[0] === undefined) throw new Error("the key of the test is not one");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  return { publisher: parsed.publishers[0], privateKey: pem, entry };
}

export function signedPack(files: PackFiles, { privateKey }: TestPublisher): PackFiles {
  return new Map([...files, [SIGNATURE_FILE, Buffer.from(signPack(files, privateKey))]]);
}
