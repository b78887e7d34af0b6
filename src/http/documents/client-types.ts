import type { Operation } from "../../protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../protocol/operations.ts";
import type { TSchema } from "../../protocol/schema.ts";
import { type CallTable, hasBody, itemsOf } from "./client-routes.ts";
import { type JsonSchema, reference, referredSchemas, schemaOrReference } from "./named-schemas.ts";

/**
 * The declarations of the client that are published: the same as `sdk/client.ts` derives from the table of operations, spelled out, so
 * that a program needs neither that table nor its schema library, and an editor shows what each call is for.
 */
export function clientTypes(calls: CallTable): string {
  const types = new NamedTypes();
  const nouns = Object.entries(calls).map(([noun, verbs]) => {
    const methods = Object.entries(verbs).map(([verb, id]) => new Method(verb, id, types).text());
    return `export interface ${capitalized(noun)}Calls {\n${methods.join("")}}\n`;
  });
  const members = Object.keys(calls).map((noun) => `  readonly ${noun}: ${capitalized(noun)}Calls;\n`);
  return [HEAD, `export interface Client {\n${members.join("")}}\n`, ...nouns, types.text()].join("\n");
}

/** The types that the methods mention. */
class NamedTypes {
  readonly #own = new Map<string, JsonSchema>();
  readonly #mentioned: JsonSchema[] = [reference("RunEventDoc")];

  /** The name of a schema; one without a name is given this one. */
  nameOf(schema: TSchema, name: string): string {
    const text = schemaOrReference(schema);
    this.#mentioned.push(text);
    if (typeof text["$ref"] === "string") return typeText(text);
    this.#own.set(name, text);
    return name;
  }

  /** A type where it stands. */
  inline(schema: TSchema): string {
    const text = schemaOrReference(schema);
    this.#mentioned.push(text);
    return typeText(text);
  }

  text(): string {
    const all = { ...Object.fromEntries(this.#own), ...referredSchemas(this.#mentioned) };
    return Object.entries(all)
      .map(([name, schema]) => `export type ${name} = ${typeText(schema)};\n`)
      .join("");
  }
}

const HEAD = `import type { Call, LinesCall, PageCall } from "./call.js";
import type { EventStream } from "./event-stream.js";
import type { Input } from "./input.js";
import type { CallOptions, CallOptionsWith, StreamOptions } from "./settings.js";

/** An event of a run's log, with the payload of its type. */
type LogEvent<Type extends string, Payload> = Omit<RunEventDoc, "type" | "payload"> & { type: Type; payload: Payload };
`;

const RAW = "string | Uint8Array";

class Method {
  readonly #verb: string;
  readonly #id: OperationId;
  readonly #operation: Operation;
  readonly #types: NamedTypes;

  constructor(verb: string, id: OperationId, types: NamedTypes) {
    this.#verb = verb;
    this.#id = id;
    this.#operation = OPERATIONS[id];
    this.#types = types;
  }

  text(): string {
    const { path, summary } = this.#operation;
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`);
    const all = [...parameters, ...this.#input(), `options?: ${this.#options()}`].join(", ");
    return `  /** ${summary} ${this.#needs()} */\n  readonly ${this.#verb}: (${all}) => ${this.#answer()};\n`;
  }

  #needs(): string {
    const { access, alsoNeeds } = this.#operation;
    if (access === "public") return "Needs no key.";
    if (access === "authenticated") return "Needs any key.";
    return `Needs \`${access}\`${alsoNeeds === undefined ? "" : ` and \`${alsoNeeds}\``}.`;
  }

  #input(): string[] {
    const { body, bytesOf, query, takesPack } = this.#operation;
    if (takesPack === true) return ["body: Uint8Array"];
    if (bytesOf !== undefined) return [`body: Input<${this.#named(bytesOf, "Request")}> | ${RAW}`];
    if (body !== undefined) return [`body${mark(body)}: Input<${this.#named(body, "Request")}> | ${RAW}`];
    return query === undefined ? [] : [`query${mark(query)}: Input<${this.#named(query, "Query")}>`];
  }

  #options(): string {
    const { query, success } = this.#operation;
    if (success.frames !== undefined) return "StreamOptions";
    const both = query !== undefined && hasBody(this.#operation);
    return both ? `CallOptionsWith<Input<${this.#named(query, "Query")}>>` : "CallOptions";
  }

  #answer(): string {
    const { success, otherwise } = this.#operation;
    const { frames, line, content, contentType, schema } = success;
    if (frames !== undefined) return `EventStream<${this.#frames()}>`;
    if (line !== undefined) return `LinesCall<${this.#named(line, "Line")}>`;
    if (content !== undefined) return `Call<${this.#named(content, "Response")}>`;
    if (contentType !== undefined) return contentType.startsWith("text/") ? "Call<string>" : "Call<Blob>";
    if (schema === undefined) return "Call<void>";
    const answer = this.#named(schema, "Response");
    const items = itemsOf(schema);
    if (items !== undefined) return `PageCall<${answer}, ${answer}["${items}"][number]>`;
    return `Call<${answer}${otherwise === undefined ? "" : ` | ${this.#named(otherwise.schema, "OtherResponse")}`}>`;
  }

  #frames(): string {
    const { frames = {}, events = {} } = this.#operation.success;
    const frame = (event: string, data: string) => `{ event: "${event}"; data: ${data}; id: string | undefined }`;
    const all = [
      ...Object.entries(frames).map(([event, { data }]) => frame(event, this.#types.inline(data))),
      ...Object.entries(events).map(([event, { payload }]) =>
        frame(event, `LogEvent<"${event}", ${this.#types.inline(payload)}>`),
      ),
    ];
    return `\n    | ${all.join("\n    | ")}\n  `;
  }

  /** Of a schema without a name, one after the operation. */
  #named(schema: TSchema, suffix: string): string {
    return this.#types.nameOf(schema, `${capitalized(this.#id)}${suffix}`);
  }
}

/** An input that may be left out. */
function mark(schema: TSchema): string {
  return ((schema as { required?: readonly string[] }).required ?? []).length === 0 ? "?" : "";
}

function capitalized(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

interface Parts {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

const PLAIN: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** A JSON Schema, of the keywords that our schemas use, as a type of TypeScript. Bounds and patterns are left to the server. */
export function typeText(schema: JsonSchema, indent = ""): string {
  const { $ref, const: value, enum: values, anyOf, type = "", items, properties, patternProperties } = schema as Parts;
  if ($ref !== undefined) return $ref.split("/").at(-1) ?? "";
  if (value !== undefined) return JSON.stringify(value);
  if (values !== undefined) return values.map((one) => JSON.stringify(one)).join(" | ");
  if (anyOf !== undefined) return anyOf.map((one) => typeText(one, indent)).join(" | ") || "never";
  if (items !== undefined) return isUnion(items) ? `(${typeText(items, indent)})[]` : `${typeText(items, indent)}[]`;
  if (properties !== undefined) return objectText(schema as Parts, indent);
  const [record] = Object.values(patternProperties ?? {});
  if (record !== undefined) return `{ [name: string]: ${typeText(record, indent)} }`;
  return PLAIN[type] ?? (type === "array" ? "unknown[]" : type === "object" ? "object" : "unknown");
}

function isUnion({ enum: values, anyOf }: Parts): boolean {
  return values !== undefined || anyOf !== undefined;
}

function objectText({ properties = {}, required = [] }: Parts, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const { description } = schema as Parts;
    const comment = description === undefined ? "" : `${inner}/** ${description.replaceAll("*/", "* /")} */\n`;
    const key = /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
    return `${comment}${inner}${key}${required.includes(name) ? "" : "?"}: ${typeText(schema, inner)};\n`;
  });
  return members.length === 0 ? "Record<never, never>" : `{\n${members.join("")}${indent}}`;
}
