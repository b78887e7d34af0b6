import { setImmediate as nextTurn } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import type { TAPE_EVENTS } from "../../protocol/tapes/events.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";
import type { TargetEvent } from "../judgments/decide/annotate.ts";
import { endsLog } from "../runs/read-log.ts";
import type { RunIdentity } from "../runs/run-identity.ts";

const RECORD: keyof typeof TAPE_EVENTS = "assay.tape.record";

const PAGE = 500;

type Numbered = (event: StoredEvent, doc: EventDoc) => bigint | undefined;

interface EventDoc {
  readonly eventId: string;
  readonly nodeId?: string;
  readonly payload?: { readonly seq?: number | string };
}

/** How the rows of a sidecar call the events of a run: by the `seq` of a tape's record, or by their place in the log of any other run. */
export class RowEvents {
  readonly #store: Pick<Store, "readEvents">;
  readonly #runId: string;
  readonly #number: Numbered;

  constructor(store: Pick<Store, "readEvents">, run: Pick<RunIdentity, "runId" | "workflowId">) {
    this.#store = store;
    this.#runId = run.runId;
    this.#number = isRecorded(run) ? bySeq : bySequence;
  }

  /** The event of each number, the first where a tape has several; those that the run does not have are left out. */
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

  /** What a judgment about the whole run is written under; 0 when there is no event. */
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
      if (endsLog(events, PAGE)) return;
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
