import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import { formatId, RANDOM_BYTES, timeOfId } from "../../protocol/id.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import type { TAPE_EVENTS } from "../../protocol/tapes/events.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";
import type { TargetEvent } from "../judgments/decide/annotate.ts";
import type { RunIdentity } from "../runs/run-identity.ts";

const RECORD: keyof typeof TAPE_EVENTS = "assay.tape.record";

const PAGE = 500;

type Numbered = (event: StoredEvent, doc: EventDoc) => bigint | undefined;

interface EventDoc {
  readonly eventId: string;
  readonly nodeId?: string;
  readonly payload?: { readonly seq?: number | string };
}

/** The numbers of a run's events in the rows of its sidecar: the `seq` of a tape's record, or the sequence in the log of any other run. */
export class RowEvents {
  readonly #store: Pick<Store, "readEvents">;
  readonly #runId: string;
  readonly #number: Numbered;

  constructor(store: Pick<Store, "readEvents">, run: Pick<RunIdentity, "runId" | "workflowId">) {
    this.#store = store;
    this.#runId = run.runId;
    this.#number = isRecorded(run) ? bySeq : bySequence;
  }

  /** The event of each number, the first where a tape has several; unknown numbers are left out. */
  async find(numbers: ReadonlySet<bigint>): Promise<Map<bigint, TargetEvent>> {
    const found = new Map<bigint, TargetEvent>();
    if (numbers.size === 0) return found;
    for await (const [number, { eventId, nodeId }] of this.#all()) {
      if (!numbers.has(number) || found.has(number)) continue;
      found.set(number, defined({ eventId, nodeId }));
      if (found.size === numbers.size) break;
    }
    return found;
  }

  /** The number of each event, for those that have one. */
  async numbersOf(eventIds: ReadonlySet<string>): Promise<Map<string, bigint>> {
    const found = new Map<string, bigint>();
    if (eventIds.size === 0) return found;
    for await (const [number, { eventId }] of this.#all()) {
      if (!eventIds.has(eventId)) continue;
      found.set(eventId, number);
      if (found.size === eventIds.size) break;
    }
    return found;
  }

  /** The number of the first event, for judgments about the whole run; 0 without events. */
  async first(): Promise<bigint> {
    for await (const [number] of this.#all()) return number;
    return 0n;
  }

  async *#all(): AsyncGenerator<[bigint, EventDoc]> {
    for (let from = 0; ; ) {
      const events = await this.#store.readEvents(this.#runId, from, PAGE);
      for (const event of events) {
        const doc = JSON.parse(event.body) as EventDoc;
        const number = this.#number(event, doc);
        if (number !== undefined) yield [number, doc];
      }
      if (isLastPage(events, PAGE)) return;
      from = (events.at(-1) as StoredEvent).sequence + 1;
      await nextTurn();
    }
  }
}

function bySequence({ sequence }: StoredEvent): bigint {
  return BigInt(sequence);
}

function bySeq({ type }: StoredEvent, { payload }: EventDoc): bigint | undefined {
  return type === RECORD && payload?.seq !== undefined ? BigInt(payload.seq) : undefined;
}

const HASH_BITS = 60n;
/** The characters of an id that the hash takes: five bits each. */
const HASH_CHARACTERS = 12;

/**
 * The id of the annotation of a pushed row. Its time is that of the run, because an id must not depend on the time of the push; then come the place of
 * the row in the file, so that ids ascend with it, and a hash of the name of the row.
 */
export function rowAnnotationId(runId: string, place: number, name: string): string {
  const hash = createHash("sha256").update(`${runId} ${name}`).digest("hex");
  const bits = (BigInt(place) << HASH_BITS) | BigInt.asUintN(Number(HASH_BITS), BigInt(`0x${hash.slice(0, 16)}`));
  const bytes = Buffer.from(bits.toString(16).padStart(2 * RANDOM_BYTES, "0"), "hex");
  return formatId("ann", timeOfId(runId) ?? 0, bytes);
}

/** Whether two ids are of one row, whose place in the file may have changed. */
export function isSameRow(one: string | undefined, other: string): boolean {
  return one?.slice(-HASH_CHARACTERS) === other.slice(-HASH_CHARACTERS);
}
