import { Unreadable } from "../formats/json/exact-json.ts";
import type { FreeForm, FreeMap } from "../formats/json/print-json.ts";
import { loadTape } from "../formats/tapes/read-tape.ts";
import { Chains, splitMuted } from "../formats/tapes/sidecar/current-rows.ts";
import { type DecidedRow, decideRow, explainObjection } from "../formats/tapes/sidecar/decide-row.ts";
import { SUPERSEDES } from "../formats/tapes/sidecar/new-row.ts";
import { loadSidecar } from "../formats/tapes/sidecar/read-sidecar.ts";
import { printSidecarHeader, type Row, SIDECAR_VERSION } from "../formats/tapes/sidecar/sidecar.ts";
import {
  type EarlierRow,
  newSidecar,
  type SidecarState,
  sidecarState,
} from "../formats/tapes/sidecar/sidecar-state.ts";
import type { Tape, TapeRecord } from "../formats/tapes/tape.ts";
import { factsOf, type TapeFacts } from "../formats/tapes/tape-facts.ts";
import { explainProblem, type Problem } from "../formats/tapes/validate/problems.ts";
import { validateSidecar } from "../formats/tapes/validate/validate.ts";
import { FileError } from "../formats/text/file-error.ts";
import {
  type AnnotatedTape,
  type Integer,
  type NewJudgment,
  type Replacement,
  TapeError,
  type TapeEvent,
  type TapeFiles,
  type TapeFinding,
  type TapeJudgment,
  type TapeValue,
} from "./tape-view.ts";

/** Reads a tape and its sidecar. Throws `TapeError`. */
export async function openTape(files: TapeFiles): Promise<AnnotatedTape> {
  const name = files.name ?? "tape";
  return readable(async () => {
    const tape = await loadTape(name, [bytesOf(files.tape)]);
    const facts = await factsOf(tape.records);
    const text = files.sidecar === undefined ? undefined : bytesOf(files.sidecar);
    const path = `${name}.annotations.jsonl`;
    const state = text === undefined ? newSidecar() : await sidecarState(path, [text], facts, ANY);
    const rows = text === undefined ? [] : (await loadSidecar(path, [text])).rows;
    return new OpenTape({ tape, facts, state, rows, name, text: decoder.decode(text) });
  });
}

const ANY = { id: undefined, event: undefined };

interface Opened {
  readonly tape: Tape;
  readonly facts: TapeFacts;
  readonly state: SidecarState;
  readonly rows: readonly Row[];
  readonly name: string;
  readonly text: string;
}

class OpenTape implements AnnotatedTape {
  readonly digest: string;
  readonly events: readonly TapeEvent[];
  readonly #facts: TapeFacts;
  readonly #name: string;
  readonly #rows: Row[];
  readonly #ids: Set<string>;
  readonly #end: SidecarState["end"];
  #header: SidecarState["header"];
  #text: string;

  constructor({ tape, facts, state, rows, name, text }: Opened) {
    this.digest = facts.digest;
    this.events = tape.records.map(shownEvent);
    this.#facts = facts;
    this.#name = name;
    this.#rows = [...rows];
    this.#ids = new Set(state.ids);
    this.#end = state.end;
    this.#header = state.header;
    this.#text = text;
  }

  get judgments(): readonly TapeJudgment[] {
    return this.#rows.map(shownJudgment);
  }

  get currentJudgments(): readonly TapeJudgment[] {
    const chains = this.#chains();
    return splitMuted(this.#rows.filter((_, index) => !chains.isReplaced(index))).heard.map(shownJudgment);
  }

  get sidecar(): string | undefined {
    return this.#header === undefined ? undefined : this.#text;
  }

  async validate(): Promise<readonly TapeFinding[]> {
    if (this.#header === undefined) return [];
    const { findings } = await validateSidecar(this.#name, [bytesOf(this.#text)], this.#facts);
    return Array.from(findings, ({ problem, line }) => ({
      code: problem.code,
      message: explainProblem(problem),
      line,
    }));
  }

  annotate(judgment: NewJudgment | Replacement): TapeJudgment {
    const decided = this.#decide(judgment);
    const [objection] = decided.objections;
    if (objection !== undefined) {
      const explained = (one: typeof objection) => (isProblem(one) ? explainProblem(one) : explainObjection(one));
      throw new TapeError(objection.code, decided.objections.map(explained).join("; "));
    }
    if (this.#header === undefined) this.#begin();
    const added = this.#end.withLine(decided.line);
    this.#end.take(bytesOf(added));
    this.#text += added;
    this.#ids.add(decided.row.id);
    this.#rows.push(decided.row);
    return shownJudgment(decided.row);
  }

  #decide(judgment: NewJudgment | Replacement): DecidedRow {
    const { kind, id, evidence, fix, through, status, friction, links = [], metadata, author } = judgment;
    const about = "supersedes" in judgment ? this.#earlier(judgment.supersedes) : this.#event(judgment.event);
    const request = {
      kind,
      id,
      evidence,
      fix: fix === undefined ? undefined : freeFormOf(fix),
      span: through === undefined ? undefined : { start: undefined, end: BigInt(through) },
      status,
      friction,
      links: links.map(({ label = null, url = null, reference = null }) => ({ label, url, reference })),
      metadata: freeFormOf(metadata ?? {}) as FreeMap,
      author: { surface: null, ...author },
    };
    const state = { ids: this.#ids, ...(this.#header === undefined ? {} : { header: this.#header }) };
    try {
      return decideRow(request, about, state, this.#facts, (judgment.at ?? new Date()).toISOString());
    } catch (error) {
      if (error instanceof Unreadable) throw new TapeError("unreadable", `it could not be read back: ${error.message}`);
      throw error;
    }
  }

  #event(event: Integer | "last"): bigint {
    if (event !== "last") return BigInt(event);
    const { last } = this.#facts.seqs;
    if (last === null) throw new TapeError("unknown_event_id", `${this.#name} has no events`);
    return last;
  }

  #earlier(id: string): EarlierRow {
    const index = this.#rows.findLastIndex((row) => row.id === id);
    const row = this.#rows[index];
    if (row === undefined) throw new TapeError("unknown_annotation", `there is no judgment ${id} to replace`);
    const newest = this.#chains().newestOf(index);
    return { row, newest: newest.map((one) => this.#rows[one]?.id || "one without an id") };
  }

  #chains(): Chains {
    const chains = new Chains();
    for (const row of this.#rows) chains.add(row);
    return chains;
  }

  #begin(): void {
    this.#header = {
      schema_version: BigInt(SIDECAR_VERSION),
      tape_path: this.#name,
      tape_content_hash: this.digest,
      harn_version: null,
    };
    this.#text = `${printSidecarHeader(this.#header)}\n`;
    this.#end.take(bytesOf(this.#text));
  }
}

function isProblem(objection: DecidedRow["objections"][number]): objection is Problem {
  return objection.code !== "already_superseded" && objection.code !== "status_step_unusual";
}

function shownEvent({ seq, phase, virtual_time_ms, monotonic_ms, kind }: TapeRecord): TapeEvent {
  const { kind: name, ...members } = kind;
  return {
    seq: integerOf(seq),
    phase,
    virtualTimeMs: integerOf(virtual_time_ms),
    monotonicMs: integerOf(monotonic_ms),
    kind: name,
    members: shown(members) as TapeEvent["members"],
  };
}

function shownJudgment(row: Row): TapeJudgment {
  const supersedes = row.metadata.get(SUPERSEDES);
  return {
    id: row.id,
    event: integerOf(row.event_id),
    through: integerOf(row.span?.end_event_id ?? row.event_id),
    kind: row.kind,
    evidence: row.evidence,
    fix: shown(row.suggested_fix),
    author: row.author,
    timestamp: row.timestamp,
    status: row.hypothesis_status,
    friction: row.friction_kind,
    links: row.links,
    metadata: shown(row.metadata) as TapeJudgment["metadata"],
    supersedes: typeof supersedes === "string" ? supersedes : null,
  };
}

function integerOf(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function shown(value: unknown): TapeValue {
  if (typeof value === "bigint") return integerOf(value);
  if (typeof value !== "object" || value === null) return value as TapeValue;
  if (Array.isArray(value)) return value.map(shown);
  const members = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(members.map(([name, member]) => [name, shown(member)]));
}

/** Whole numbers become integers, as programs write them; the file tells `3` and `3.0` apart. */
function freeFormOf(value: TapeValue): FreeForm {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : finite(value);
  if (typeof value === "bigint") return exact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(freeFormOf);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return new Map(members.map(([name, member]) => [name, freeFormOf(member)]));
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new TapeError("unreadable", `${value} is no number of JSON`);
}

/** The file has integers of 64 bits. */
function exact(value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value) return value;
  throw new TapeError("unreadable", `${value} is larger than the file can say exactly`);
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FileError) throw new TapeError(error.code, error.message, error.place.line);
    throw error;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? encoder.encode(text) : text;
}
