import { type Json, JsonObject, readJson, Unreadable } from "../../json/exact-json.ts";
import { compareUtf8, type FreeForm, freeForm } from "../../json/print-json.ts";
import { isStored, type Payload, type RecordKind, type TapeRecord } from "../tape.ts";

/** Something that was done in a tape, apart from how it went. */
export interface Action {
  readonly kind: RecordKind["kind"];
  /** What was called: a program, a method of a server, a kind of file. */
  readonly name: string;
  /** What it was called with. Two actions with the same names here are the same step, whatever the values are. */
  readonly values: ReadonlyMap<string, FreeForm>;
}

/** Kinds whose outcome a model decides; every other action does the same when it is done again. */
const DECIDED_BY_MODEL: readonly RecordKind["kind"][] = ["llm_call", "decision_evaluation", "model_job"];

export function isDeterministic(kind: RecordKind["kind"]): boolean {
  return !DECIDED_BY_MODEL.includes(kind);
}

/**
 * What a record is in a sequence of actions. Clocks and the clean-up after the script are no part of it. A record of an unknown kind
 * is a `gap`: its action is unknown, so no sequence may reach across it.
 */
export function actionOf({ phase, kind }: TapeRecord): Action | "gap" | undefined {
  if (phase !== "user_script") return undefined;
  switch (kind.kind) {
    case "clock_read":
    case "clock_sleep":
      return undefined;
    case "unknown":
      return "gap";
    case "llm_call":
    case "decision_evaluation":
      return { kind: kind.kind, name: "model", values: new Map([["request", kind.request_digest]]) };
    case "file_read":
    case "file_write":
    case "file_delete":
      return { kind: kind.kind, name: fileKind(kind.path), values: new Map([["path", kind.path]]) };
    case "process_spawn":
      return { kind: kind.kind, name: lastPart(kind.program), values: processValues(kind.args, kind.cwd) };
    case "mcp_json_rpc":
      return rpcAction(kind.server, kind.method, kind.request_digest, kind.request_payload);
    case "model_job":
      return { kind: kind.kind, name: `${kind.backend}.${kind.event_kind}`, values: new Map([["state", kind.state]]) };
  }
}

/** By this two actions are compared. */
export function signatureOf({ kind, name, values }: Action): string {
  return `${kind}:${name}:${parametersOf(values).join(",")}`;
}

export function parametersOf(values: Action["values"]): string[] {
  return [...values.keys()].sort(compareUtf8);
}

/** `.json`, `Makefile`: the ending, or the whole name of a file that has none. */
function fileKind(path: string): string {
  const name = lastPart(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot).toLowerCase() : name;
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== "") ?? path;
}

/** Options by their names, and what is no option as `args`. After `--` nothing is an option. */
function processValues(args: readonly string[], cwd: string | null): Map<string, FreeForm> {
  const values = new Map<string, FreeForm>(cwd === null ? [] : [["cwd", cwd]]);
  const end = args.indexOf("--");
  const others: string[] = [];
  for (const [i, arg] of args.entries()) {
    if (arg.length < 2 || !arg.startsWith("-") || (end >= 0 && i >= end)) {
      if (i !== end) others.push(arg);
      continue;
    }
    const equals = arg.indexOf("=");
    if (equals < 0) values.set(arg, true);
    else values.set(arg.slice(0, equals), arg.slice(equals + 1));
  }
  if (others.length > 0) values.set("args", others);
  return values;
}

/** A tool that is called by name is an action of its own; its arguments are what it is called with. */
function rpcAction(server: string, method: string, digest: string, payload: Payload): Action {
  const kind = "mcp_json_rpc";
  const params = paramsOf(payload);
  if (params === undefined) return { kind, name: `${server}.${method}`, values: new Map([["request", digest]]) };
  const { name: tool, arguments: args } = Object.fromEntries(params.members);
  if (method === "tools/call" && typeof tool === "string") {
    return {
      kind,
      name: `${server}.${method}.${tool}`,
      values: args instanceof JsonObject ? valuesOf(args) : new Map(),
    };
  }
  return { kind, name: `${server}.${method}`, values: valuesOf(params) };
}

function valuesOf(object: JsonObject): Map<string, FreeForm> {
  return new Map(object.members.map(([name, value]) => [name, freeForm(value)]));
}

/** The `params` of a request, or the request itself when it is recorded without its envelope; undefined when it cannot be seen. */
function paramsOf(payload: Payload): JsonObject | undefined {
  if (isStored(payload)) return undefined;
  const request = parsed(payload.text);
  if (!(request instanceof JsonObject)) return undefined;
  const params = request.members.findLast(([name]) => name === "params")?.[1];
  if (params instanceof JsonObject) return params;
  const isEnvelope = request.members.some(([name]) => name === "jsonrpc" || name === "method");
  return isEnvelope ? new JsonObject([]) : request;
}

function parsed(text: string): Json | undefined {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
