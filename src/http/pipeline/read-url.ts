import { validationError } from "../../protocol/errors.ts";
import { parse, quoted, type TSchema } from "../../protocol/schema.ts";

/** A parameter holds no colon, so that an id never contains a verb, and no control character, which databases refuse. */
const PARAMETER = "[^:/\\x00-\\x1f]+";

/** The author of a workflow names its nodes freely, and no verb follows a node in a path. */
const NODE = "[^\\x00-\\x1f]+";

/** `/v1/runs/{runId}:pause` as Fastify writes it. */
export function fastifyPattern(path: string): string {
  return path
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith("{") ? `:${part.slice(1, -1)}(${parameter(part)})` : part.replaceAll(":", "::")))
    .join("");
}

function parameter(part: string): string {
  return part === "{nodeId}" ? NODE : PARAMETER;
}

/** The same path as a test of a whole URL path, whose groups are named after its parameters. */
export function pathTest(path: string): RegExp {
  const source = path
    .split(/(\{\w+\})/)
    .map((part) =>
      part.startsWith("{") ? `(?<${part.slice(1, -1)}>${PARAMETER})` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
    )
    .join("");
  return new RegExp(`^${source}$`);
}

export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.includes("{") ? path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "") : path;
}

export type QueryReader = (url: string) => unknown;

interface ObjectSchema {
  readonly properties: Readonly<Record<string, { readonly type?: string }>>;
  readonly additionalProperties?: boolean;
}

const MAX_PARAMETERS = 64;

/**
 * Reads the query of one operation. Integers are read strictly: `Number()` would guess the meaning of " 5", "5.0" or "1e3". A repeated name is
 * refused, because either of its values could be meant.
 */
export function queryReader(schema: TSchema): QueryReader {
  const { properties, additionalProperties } = schema as unknown as ObjectSchema;
  const closed = additionalProperties === false;

  return (url) => {
    const read: Record<string, unknown> = {};
    const start = url.indexOf("?");
    const pairs = start < 0 || start + 1 === url.length ? [] : url.slice(start + 1).split("&", MAX_PARAMETERS + 1);
    if (pairs.length > MAX_PARAMETERS) refuse(`has more than ${MAX_PARAMETERS} parameters`);
    for (const pair of pairs) {
      if (pair === "") continue;
      const equals = pair.indexOf("=");
      const name = decode(equals < 0 ? pair : pair.slice(0, equals));
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (property === undefined) {
        if (closed) refuse(`must not have ${quoted(name)}; it takes ${Object.keys(properties).join(", ")}`);
        continue;
      }
      if (Object.hasOwn(read, name)) refuse(`has ${name} more than once`);
      const text = equals < 0 ? "" : decode(pair.slice(equals + 1));
      read[name] = property.type === "integer" ? integer(name, text) : text;
    }
    return parse(schema, read, "query");
  };
}

const INTEGER = /^(?:0|-?[1-9][0-9]{0,15})$/;

function integer(name: string, text: string): number {
  if (!INTEGER.test(text)) refuse(`/${name} must be an integer`);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) refuse(`/${name} is too large`);
  return value;
}

function decode(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  let decoded = "";
  try {
    decoded = decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    refuse("has a broken percent escape");
  }
  // PostgreSQL has no text with a NUL in it.
  if (decoded.includes("\0")) refuse("holds a NUL character");
  return decoded;
}

function refuse(problem: string): never {
  throw validationError(`query${problem.startsWith("/") ? "" : " "}${problem}`);
}
