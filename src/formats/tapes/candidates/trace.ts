import { type Json, JsonObject, readJson, Unreadable } from "../../json/exact-json.ts";
import { compareUtf8, type FreeForm, freeForm } from "../../json/print-json.ts";
import { lowerBound } from "../../text/collections.ts";
import { compareSeq } from "../seq-set.ts";
import type { Anchor } from "../sidecar/sidecar.ts";
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

/** In place of the signature of an unknown action. */
const GAP = -1;

/** Signatures by number: a tape may have a hundred thousand actions and only a few different ones. */
export class Signatures {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];

  numberOf(signature: string): number {
    const known = this.#numbers.get(signature);
    if (known !== undefined) return known;
    this.#numbers.set(signature, this.#texts.length);
    this.#texts.push(signature);
    return this.#texts.length - 1;
  }

  get count(): number {
    return this.#texts.length;
  }

  textOf(number: number): string {
    return this.#texts[number] as string;
  }

  /** The place of each number in the order of the texts. */
  ranks(): Int32Array {
    const order = this.#texts.map((_, number) => number).sort((a, b) => compareUtf8(this.textOf(a), this.textOf(b)));
    const ranks = new Int32Array(order.length);
    for (const [rank, number] of order.entries()) ranks[number] = rank;
    return ranks;
  }
}

/** The actions of one tape, in their order. */
export interface Trace {
  readonly path: string;
  readonly signatures: Int32Array;
  /** Which record of the tape each action is, from 0. */
  readonly places: Uint32Array;
  readonly anchored: readonly AnchoredActions[];
}

/** Actions next to each other that an anchor is about. */
export interface AnchoredActions {
  readonly anchor: Anchor;
  readonly from: number;
  /** Not in it any more; undefined when the anchor only says where something begins. */
  readonly to?: number;
}

/** Takes the records of a tape in the order of the file. */
export class TraceBuilder {
  readonly #path: string;
  readonly #signatures: Signatures;
  readonly #anchors: readonly Anchor[];
  readonly #numbers: number[] = [];
  readonly #places: number[] = [];
  readonly #seqs: bigint[] = [];
  #records = 0;

  constructor(path: string, signatures: Signatures, anchors: readonly Anchor[]) {
    this.#path = path;
    this.#signatures = signatures;
    this.#anchors = anchors;
  }

  add(record: TapeRecord): void {
    const place = this.#records++;
    const action = actionOf(record);
    if (action === undefined) return;
    this.#numbers.push(action === "gap" ? GAP : this.#signatures.numberOf(signatureOf(action)));
    this.#places.push(place);
    if (this.#anchors.length > 0) this.#seqs.push(record.seq);
  }

  finish(): Trace {
    return {
      path: this.#path,
      signatures: Int32Array.from(this.#numbers),
      places: Uint32Array.from(this.#places),
      anchored: anchoredActions(this.#anchors, this.#seqs),
    };
  }
}

/** Numbers of events need not be in order, so what an anchor covers may lie in several runs. */
function anchoredActions(anchors: readonly Anchor[], seqs: readonly bigint[]): AnchoredActions[] {
  const order = seqs.map((_, i) => i).sort((a, b) => compareSeq(seqs[a] as bigint, seqs[b] as bigint) || a - b);
  const firstAt = (seq: bigint) => lowerBound(order.length, (i) => (seqs[order[i] as number] as bigint) >= seq);
  return anchors.flatMap((anchor): AnchoredActions[] => {
    const first = firstAt(anchor.event_id);
    if (anchor.end_event_id <= anchor.event_id) {
      const from = order[first];
      return from === undefined ? [] : [{ anchor, from }];
    }
    const covered = order.slice(first, firstAt(anchor.end_event_id + 1n)).sort((a, b) => a - b);
    return runsOf(covered).map((run) => ({ anchor, ...run }));
  });
}

function runsOf(ascending: readonly number[]): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const index of ascending) {
    const last = runs.at(-1);
    if (last?.to === index) last.to++;
    else runs.push({ from: index, to: index + 1 });
  }
  return runs;
}
