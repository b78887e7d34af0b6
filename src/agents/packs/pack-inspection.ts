import { isUtf8 } from "node:buffer";
import { registeredSchema, SchemaTotal } from "../../engine/schemas/decide/schema-limits.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { exceedsLimits, parsedJson, repeatedMember } from "../../formats/json/check-json.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PackProblem, PackSuite, PackSuites } from "./check-pack.ts";
import { BadPack, MANIFEST_FILE, type PackFiles, packPath } from "./pack-files.ts";

const TEXT_BYTES_MAX = 262_144;
const JSON_LIMITS = { maxDepth: 64, maxElements: 100_000 };

type JsonObject = Readonly<Record<string, unknown>>;

type ReadSchema = { readonly value: JsonObject } | { readonly problem: string };

/** Follows what a manifest refers to, and notes what is wrong with it. */
export class PackInspection {
  readonly problems: PackProblem[] = [];
  /** Suites by `id@version`. */
  readonly suites = new Map<string, PackSuite>();
  readonly #files: PackFiles;
  readonly #suites: PackSuites;
  readonly #scrubber: Scrubber;
  /** Schemas by file. */
  readonly #schemas = new Map<string, ReadSchema>();
  readonly #schemaTotal = new SchemaTotal();

  constructor(files: PackFiles, suites: PackSuites, scrubber: Scrubber) {
    this.#files = files;
    this.#suites = suites;
    this.#scrubber = scrubber;
  }

  say(file: string, path: string, problem: string): void {
    this.problems.push({ file, path, problem });
  }

  text(at: string, ref: unknown): string | undefined {
    const found = this.#file(at, ref);
    if (found === undefined) return undefined;
    const text = textOf(found.bytes);
    if (typeof text === "object") {
      this.say(found.file, "", text.problem);
      return undefined;
    }
    if (text.trim() === "") this.say(found.file, "", "is empty");
    this.forSecrets(found.file, text);
    return text;
  }

  schema(at: string, ref: unknown): JsonObject | undefined {
    const found = this.#file(at, ref);
    if (found === undefined) return undefined;
    const { file, bytes } = found;
    // Agents may share a schema: it is read, counted and compiled once.
    const schema = this.#schemas.get(file) ?? this.#readSchema(file, bytes);
    this.#schemas.set(file, schema);
    if ("value" in schema) return schema.value;
    this.say(file, "", schema.problem);
    return undefined;
  }

  #readSchema(file: string, bytes: Uint8Array): ReadSchema {
    const json = jsonOf(bytes);
    if ("value" in json) this.forSecrets(file, json.value);
    const problem = "problem" in json ? json.problem : schemaProblem(json.value, this.#schemaTotal);
    return problem === undefined ? (json as { value: JsonObject }) : { problem };
  }

  /** Returns the suite's `id@version`. */
  suite(at: string, ref: unknown): string | undefined {
    const found = this.#file(at, ref);
    if (found === undefined) return undefined;
    const read = this.#suites.read(found.bytes);
    if (!read.ok) {
      for (const problem of read.problems) this.say(found.file, "", problem);
      return undefined;
    }
    const { suite } = read;
    const other = this.suites.get(suite.ref);
    if (other !== undefined && other.sha256 !== suite.sha256) {
      this.say(found.file, "", `is ${suite.ref}, and so is another file of this pack that differs from it`);
    }
    this.suites.set(suite.ref, suite);
    return suite.ref;
  }

  /** Packs are copied and shown: they must not contain secrets. */
  forSecrets(file: string, value: unknown, path = ""): void {
    if (typeof value === "string") {
      if (this.#scrubber.holdsKey(value)) {
        this.say(file, path, "has text that looks like a secret; keep it in the environment of the host");
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        // The path of such a member would show its name.
        if (this.#scrubber.holdsKey(name)) this.say(file, path, "has a member whose name looks like a secret");
        else this.forSecrets(file, item, `${path}/${name}`);
      }
    }
  }

  #file(at: string, ref: unknown): { readonly file: string; readonly bytes: Uint8Array } | undefined {
    if (typeof ref !== "string") return undefined;
    const file = pathOf(ref);
    const bytes = file === undefined ? undefined : this.#files.get(file);
    if (file !== undefined && bytes !== undefined) return { file, bytes };
    this.say(MANIFEST_FILE, at, `names ${JSON.stringify(ref)}, which is no file of the pack`);
    return undefined;
  }
}

function pathOf(ref: string): string | undefined {
  try {
    return packPath(ref);
  } catch (error) {
    if (error instanceof BadPack) return undefined;
    throw error;
  }
}

function schemaProblem(value: unknown, total: SchemaTotal): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is not a JSON Schema";
  const excess = total.add(value as JsonObject);
  if (excess !== undefined) return `is too large: ${excess}`;
  try {
    registeredSchema(value as JsonObject, "it");
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problem = String(error.details["problem"]).replace(/^it /, "");
    return error.code === "schema_too_large" ? `is too large: ${problem}` : problem;
  }
}

function textOf(bytes: Uint8Array): string | { readonly problem: string } {
  if (bytes.length > TEXT_BYTES_MAX) return { problem: `is larger than ${TEXT_BYTES_MAX} bytes` };
  if (!isUtf8(bytes)) return { problem: "is not UTF-8" };
  const text = Buffer.from(bytes)
    .toString("utf8")
    .replace(/^\ufeff/, "");
  // A database would not take it.
  return text.includes("\u0000") ? { problem: "has a zero character" } : text;
}

export function jsonOf(bytes: Uint8Array | undefined): { readonly value: unknown } | { readonly problem: string } {
  if (bytes === undefined) return { problem: "is missing" };
  const text = textOf(bytes);
  if (typeof text === "object") return text;
  const excess = exceedsLimits(Buffer.from(text), JSON_LIMITS);
  if (excess !== undefined) return { problem: excess };
  const value = parsedJson(text);
  if (value === undefined) return { problem: "is not JSON" };
  const repeated = repeatedMember(text, value);
  if (repeated !== undefined) return { problem: `has the member ${JSON.stringify(repeated)} twice in one object` };
  try {
    // A value without a canonical form has no hash.
    canonicalJson(value);
    return { value };
  } catch {
    return { problem: "has text that is not valid Unicode" };
  }
}
