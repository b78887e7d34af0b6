import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Anchor, Anchors } from "../../engine/audit/anchor.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { closed, parse, type Static, Type } from "../../protocol/schema.ts";
import { withFileLock } from "../files/file-lock.ts";
import { replaceFile } from "../files/write-file.ts";
import type { Config } from "../settings/settings.ts";

const Seq = Type.Integer({ minimum: 1 });
const ANCHOR = {
  seq: Seq,
  hash: Type.String({ minLength: 1 }),
  checkpoint: Type.Optional(Type.Object({ atSequence: Seq, merkleRoot: Type.String({ minLength: 1 }) }, closed)),
};

/** An anchor that an operator gave up after a restore of the database. */
const Accepted = Type.Object(
  { at: Type.String(), by: Type.String(), reason: Type.String(), before: Type.Object(ANCHOR, closed) },
  closed,
);
export type Accepted = Static<typeof Accepted>;

const AnchorDocument = Type.Object(
  {
    format: Type.Literal("assay-audit-anchor"),
    version: Type.Literal(1),
    tenant: Type.String({ minLength: 1 }),
    ...ANCHOR,
    accepted: Type.Optional(Type.Array(Accepted)),
  },
  closed,
);
type AnchorDocument = Static<typeof AnchorDocument>;

/** The anchors of a host. Undefined where the key is in the database and no folder is named: anchors next to the key prove nothing. */
export function anchorsFor({
  auditKey,
  auditAnchor,
}: Pick<Config, "auditKey" | "auditAnchor">): AnchorFolder | undefined {
  const folder = auditAnchor ?? (auditKey === undefined ? undefined : `${auditKey}.anchors`);
  return folder === undefined ? undefined : new AnchorFolder(folder);
}

/** Anchors as files, one for each tenant, in a folder next to the signing key. The name of a file is the SHA-256 of its tenant. */
export class AnchorFolder implements Anchors {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async read(tenant: string): Promise<Anchor | undefined> {
    const document = await readDocument(this.#fileOf(tenant));
    if (document === undefined) return undefined;
    const { seq, hash, checkpoint } = document;
    return { seq, hash, ...defined({ checkpoint }) };
  }

  async write(tenant: string, anchor: Anchor, more: readonly Accepted[] = []): Promise<void> {
    const file = this.#fileOf(tenant);
    const accepted = [...((await readDocument(file))?.accepted ?? []), ...more];
    const document: AnchorDocument = {
      format: "assay-audit-anchor",
      version: 1,
      tenant,
      ...anchor,
      ...(accepted.length === 0 ? {} : { accepted }),
    };
    const text = `${JSON.stringify(document, null, 2)}\n`;
    await usable(file, () => replaceFile(file, (out) => pipeline([text], out), { ownerOnly: true, byServer: true }));
  }

  async hold<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const file = this.#fileOf(tenant);
    try {
      return await withFileLock(file, work);
    } catch (error) {
      if (error instanceof FileError) throw unusable(file, error.message, error);
      throw error;
    }
  }

  async tenants(): Promise<string[]> {
    const names = await readdir(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw unusable(this.path, error.message, error);
    });
    const files = names.filter((name) => FILE_NAME.test(name)).map((name) => join(this.path, name));
    const documents = await Promise.all(files.map(readDocument));
    return documents.flatMap((one) => one?.tenant ?? []).sort();
  }

  #fileOf(tenant: string): string {
    return join(this.path, `${createHash("sha256").update(tenant).digest("hex")}.json`);
  }
}

const FILE_NAME = /^[0-9a-f]{64}\.json$/;

/** Undefined where there is no such file. An existing file that cannot be read is an error, because signing without it is unsafe. */
async function readDocument(file: string): Promise<AnchorDocument | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(file, (error as Error).message, error);
  }
  try {
    return parse(AnchorDocument, JSON.parse(text), "");
  } catch (error) {
    throw unusable(file, "it is not an anchor that this version can read", error);
  }
}

async function usable<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unusable(file, (error as Error).message, error);
  }
}

function unusable(file: string, problem: string, cause: unknown): AppError {
  return new AppError("audit_anchor_unusable", { file, problem }, { cause });
}
