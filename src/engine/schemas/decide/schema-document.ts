import { isObject, own } from "../../../protocol/own.ts";
import { compilePattern } from "../../workflows/decide/pattern.ts";
import { FORMS, ONE_SCHEMA, SCHEMA_LIST, SCHEMA_MAP } from "./schema-keywords.ts";
import type { WorkBudget } from "./work-budget.ts";

export type SchemaObject = Readonly<Record<string, unknown>>;
export type Schema = boolean | SchemaObject;

/** Thrown for a schema that cannot be used, with the reason. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

/** Stands for the schema of schemas, the only other document that a schema may refer to. */
export const SCHEMA_OF_SCHEMAS: SchemaObject = Object.freeze({});

const DRAFT = "https://json-schema.org/draft/2020-12/schema";
/** The base of a schema that has no `$id`. */
const NO_ID = "schema:///";

/**
 * A JSON Schema with checked form and resolved references, read in linear time. It is not compiled to functions, which takes milliseconds for each
 * keyword: a schema checks only a few values.
 */
export class SchemaDocument {
  readonly root: SchemaObject;
  /** Whether a check has to track evaluated members and items. */
  tracksEvaluated = false;
  readonly #budget: WorkBudget;
  /** The URI that references within a schema are relative to. */
  readonly #bases = new Map<SchemaObject, string>();
  readonly #resources = new Map<string, SchemaObject>();
  readonly #anchors = new Map<string, SchemaObject>();
  readonly #dynamicAnchors = new Map<string, SchemaObject>();
  readonly #targets = { $ref: new Map<SchemaObject, Schema>(), $dynamicRef: new Map<SchemaObject, Schema>() };

  /** Throws `UnusableSchema`, or `TooCostly` when the schema is larger than the budget. */
  constructor(root: SchemaObject, budget: WorkBudget) {
    this.root = root;
    this.#budget = budget;
    const draft = own(root, "$schema");
    if (draft !== undefined && draft !== DRAFT && draft !== `${DRAFT}#`) {
      throw new UnusableSchema(`$schema must be ${DRAFT}, the draft that this host checks`);
    }
    this.#resources.set(NO_ID, root);
    this.#read(root, NO_ID, "");
    this.#requireTargets();
  }

  isResource(schema: SchemaObject): boolean {
    return schema === this.root || typeof own(schema, "$id") === "string";
  }

  /** The target of a reference, without the dynamic scope. */
  targetOf(schema: SchemaObject, keyword: "$ref" | "$dynamicRef"): Schema {
    const known = this.#targets[keyword].get(schema);
    if (known !== undefined) return known;
    const reference = String(schema[keyword]);
    const target = this.#find(resolved(reference, this.#bases.get(schema) ?? NO_ID), reference);
    this.#targets[keyword].set(schema, target);
    return target;
  }

  /** The schema of that dynamic anchor in the resource. */
  dynamicAnchor(resource: SchemaObject, name: string): SchemaObject | undefined {
    return this.#dynamicAnchors.get(`${this.#bases.get(resource) ?? NO_ID}#${name}`);
  }

  #read(schema: unknown, outer: string, path: string): void {
    this.#budget.charge(1);
    if (typeof schema === "boolean") return;
    if (!isObject(schema)) throw new UnusableSchema(`${place(path)} must be an object, true or false`);
    this.#budget.enter();
    const base = this.#named(schema, outer, path);
    this.#bases.set(schema, base);
    for (const [keyword, value] of Object.entries(schema)) this.#readKeyword(keyword, value, base, path);
    requireTypeWithNullable(schema, path);
    this.#budget.leave();
  }

  #readKeyword(keyword: string, value: unknown, base: string, path: string): void {
    const at = `${path}/${keyword}`;
    this.#budget.charge(1);
    if (keyword === "$async") throw new UnusableSchema("$async is no part of JSON Schema");
    if (keyword === "id") throw new UnusableSchema(`${at} is no keyword of this draft; use $id`);
    if (keyword.startsWith("unevaluated")) this.tracksEvaluated = true;
    if (ONE_SCHEMA.has(keyword)) this.#read(value, base, at);
    else if (SCHEMA_LIST.has(keyword)) this.#readAll(requireList(value, at), base, at);
    else if (SCHEMA_MAP.has(keyword)) this.#readAll(requireMap(value, at), base, at, keyword === "patternProperties");
    else if (keyword === "dependencies") this.#readDependencies(requireMap(value, at), base, at);
    else this.#readValue(keyword, value, at);
  }

  #readValue(keyword: string, value: unknown, at: string): void {
    if (Array.isArray(value)) this.#budget.charge(value.length);
    const problem = own(FORMS, keyword)?.(value);
    if (problem !== undefined) throw new UnusableSchema(`${at} ${problem}`);
    if (keyword === "pattern") this.#readPattern(value as string);
  }

  #readAll(schemas: object, base: string, path: string, patterns = false): void {
    for (const [name, schema] of Object.entries(schemas)) {
      if (patterns) this.#readPattern(name);
      this.#read(schema, base, `${path}/${name}`);
    }
  }

  /** A dependency is a schema, as in `dependentSchemas`, or a list of names, as in `dependentRequired`. */
  #readDependencies(dependencies: SchemaObject, base: string, path: string): void {
    for (const [name, value] of Object.entries(dependencies)) {
      if (!Array.isArray(value)) this.#read(value, base, `${path}/${name}`);
      else if (!value.every((one) => typeof one === "string")) {
        throw new UnusableSchema(`${path}/${name} must be a schema or a list of names`);
      }
    }
  }

  #readPattern(source: string): void {
    this.#budget.charge(PATTERN + source.length);
    this.#budget.charge(compilePattern(source).states);
  }

  /** The base URI within the schema. Registers its id and anchors. */
  #named(schema: SchemaObject, outer: string, path: string): string {
    const id = own(schema, "$id");
    let base = outer;
    if (typeof id === "string") {
      if (/#./.test(id)) throw new UnusableSchema(`${path}/$id must have no fragment`);
      base = resolved(id, outer).replace(/#$/, "");
      if ((this.#resources.get(base) ?? schema) !== schema) throw new UnusableSchema(`two schemas have the $id ${id}`);
      this.#resources.set(base, schema);
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const name = own(schema, keyword);
      if (typeof name !== "string") continue;
      const uri = `${base}#${name}`;
      if ((this.#anchors.get(uri) ?? schema) !== schema) {
        throw new UnusableSchema(`two schemas have the anchor ${name}`);
      }
      this.#anchors.set(uri, schema);
      if (keyword === "$dynamicAnchor") this.#dynamicAnchors.set(uri, schema);
    }
    return base;
  }

  /** Resolves all references that a check can reach; others may be unresolvable. */
  #requireTargets(): void {
    const reached = new Set<Schema>();
    const waiting: Schema[] = [this.root];
    for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
      if (typeof schema === "boolean" || reached.has(schema)) continue;
      reached.add(schema);
      this.#budget.charge(1);
      for (const keyword of ["$ref", "$dynamicRef"] as const) {
        if (Object.hasOwn(schema, keyword)) waiting.push(this.targetOf(schema, keyword));
      }
      waiting.push(...schemasWithin(schema));
    }
  }

  #find(uri: string, reference: string): Schema {
    const [document = "", fragment = ""] = uri.split("#", 2);
    if (document === DRAFT) return SCHEMA_OF_SCHEMAS;
    const resource = this.#resources.get(document);
    const pointer = decoded(fragment);
    const found =
      resource === undefined || pointer === undefined
        ? undefined
        : pointer === "" || pointer.startsWith("/")
          ? this.#pointed(resource, pointer)
          : this.#anchors.get(`${document}#${pointer}`);
    if (found === undefined) throw new UnusableSchema(`can't resolve reference ${reference}`);
    return found;
  }

  /** The schema at a JSON Pointer, which may lead into an unknown keyword. */
  #pointed(resource: SchemaObject, pointer: string): Schema | undefined {
    let value: unknown = resource;
    let base = this.#bases.get(resource) ?? NO_ID;
    for (const step of pointer.split("/").slice(1)) {
      this.#budget.charge(1);
      if (typeof value !== "object" || value === null) return undefined;
      value = own(value as SchemaObject, step.replaceAll("~1", "/").replaceAll("~0", "~"));
      if (isObject(value)) base = this.#bases.get(value) ?? base;
    }
    if (typeof value === "boolean") return value;
    if (!isObject(value)) return undefined;
    if (!this.#bases.has(value)) this.#read(value, base, pointer);
    return value;
  }
}

/** The cost of compiling a short pattern, in steps. */
const PATTERN = 1000;

function schemasWithin(schema: SchemaObject): Schema[] {
  return Object.entries(schema).flatMap(([keyword, value]): Schema[] => {
    if (ONE_SCHEMA.has(keyword)) return [value as Schema];
    if (SCHEMA_LIST.has(keyword)) return [...(value as readonly Schema[])];
    if (keyword === "$defs" || keyword === "definitions") return [];
    if (SCHEMA_MAP.has(keyword)) return Object.values(value as Readonly<Record<string, Schema>>);
    if (keyword !== "dependencies") return [];
    return Object.values(value as SchemaObject).filter((one): one is Schema => !Array.isArray(one));
  });
}

/** `nullable` of OpenAPI allows null in addition to a type. */
function requireTypeWithNullable(schema: SchemaObject, path: string): void {
  if (own(schema, "nullable") === undefined || own(schema, "type") !== undefined) return;
  throw new UnusableSchema(`${path}/nullable needs a type`);
}

function requireList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw new UnusableSchema(`${path} must be a list with at least one schema`);
}

function requireMap(value: unknown, path: string): SchemaObject {
  if (isObject(value)) return value;
  throw new UnusableSchema(`${path} must be an object`);
}

function place(path: string): string {
  return path === "" ? "the schema" : path;
}

function resolved(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    throw new UnusableSchema(`can't resolve reference ${reference}`);
  }
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
