import { setImmediate as nextTurn } from "node:timers/promises";
import { EventStretches, stretchOf } from "../../formats/tapes/sidecar/current-rows.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { defined } from "../../protocol/defined.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { AnnotationPlace, AnnotationQuery, AnnotationRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store } from "../../store/port/store.ts";
import { isMadeHere } from "../judgments/may-replace.ts";
import { withoutTexts } from "../judgments/without-texts.ts";
import { rowThatCame } from "./judged-rows.ts";
import { RowEvents } from "./row-events.ts";

type Reads = Pick<Store, "listAnnotations" | "readEvents">;

const MUTE = { kind: "label", label: "mute", state: "live" } as const;
const PAGE = 500;

/**
 * Judgments that a `mute` leaves out of figures. A live mute silences the judgments about its event, and with a span those about all events in it. It
 * is applied when figures are read: a mute may be added, replaced or retracted at any time.
 */
export class Mutes {
  /** Runs with a live mute. */
  readonly runIds: ReadonlySet<string>;
  readonly #store: Reads;
  readonly #visible: Visibility;
  readonly #silenced = new Map<string, ReadonlySet<string>>();

  private constructor(store: Reads, visible: Visibility, runIds: ReadonlySet<string>) {
    this.#store = store;
    this.#visible = visible;
    this.runIds = runIds;
  }

  static async read(
    store: Reads,
    visible: Visibility,
    { runId, workflowId }: Pick<AnnotationQuery, "runId" | "workflowId">,
  ): Promise<Mutes> {
    const only = defined({ runId, workflowId });
    const runIds = new Set<string>();
    for await (const mute of annotations(store, visible, { ...MUTE, ...only })) runIds.add(mute.runId);
    return new Mutes(store, visible, runIds);
  }

  /** The ids of the judgments of a run that are silenced. */
  async silencedIn(runId: string): Promise<ReadonlySet<string>> {
    if (!this.runIds.has(runId)) return NONE;
    const known = this.#silenced.get(runId);
    if (known !== undefined) return known;
    const silenced = await silencedAmong(this.#store, await this.#liveOn(runId));
    this.#silenced.set(runId, silenced);
    return silenced;
  }

  /** The judgments of a run that are live and not silenced; undefined when none is silenced. */
  async heardOn(runId: string): Promise<AnnotationRecord[] | undefined> {
    const live = await this.#liveOn(runId);
    const silenced = await silencedAmong(this.#store, live);
    return silenced.size === 0 ? undefined : live.filter(({ annotationId }) => !silenced.has(annotationId));
  }

  async #liveOn(runId: string): Promise<AnnotationRecord[]> {
    const records: AnnotationRecord[] = [];
    for await (const record of annotations(this.#store, this.#visible, { runId, state: "live" })) {
      records.push(isMute(record) ? record : withoutTexts(record));
    }
    return records;
  }
}

const NONE: ReadonlySet<string> = new Set();

async function* annotations(
  store: Reads,
  visible: Visibility,
  query: Omit<AnnotationQuery, "limit" | "order" | "after">,
): AsyncGenerator<AnnotationRecord, undefined> {
  for (let after: AnnotationPlace | undefined; ; ) {
    const page = await store.listAnnotations(visible, {
      ...query,
      order: "oldest",
      limit: PAGE,
      ...defined({ after }),
    });
    yield* page;
    // A tenant may have muted thousands of runs, so other requests get a turn between two pages.
    await nextTurn();
    after = page.at(-1);
    if (isLastPage(page, PAGE)) return;
  }
}

/** The silenced ones among the live judgments of one run. */
async function silencedAmong(store: Reads, live: readonly AnnotationRecord[]): Promise<ReadonlySet<string>> {
  const mutes = live.filter(isMute);
  const about = live.filter((record) => !isMute(record) && record.target.eventId !== undefined);
  const all = new MutedEvents(mutes);
  const numbers = all.hasSpans ? await numbersOf(store, about) : NO_NUMBERS;
  const mutedFor = new Map<string, MutedEvents>();
  const silenced = about.filter((record) => {
    const { actorKind, target } = record;
    const { eventId = "" } = target;
    const key = `${actorKind === "person"} ${isMadeHere(record)}`;
    const muted = mutedFor.get(key) ?? new MutedEvents(mutes.filter((mute) => maySilence(mute, record)));
    mutedFor.set(key, muted);
    return muted.has(eventId, numbers.get(eventId));
  });
  return new Set(silenced.map(({ annotationId }) => annotationId));
}

/**
 * Whether a mute may silence a judgment: a person's only as a person's, because an agent could appear as many people; and one that was made here only
 * if it was made here too, because the author of an imported mute is a claim of the importer.
 */
function maySilence(mute: AnnotationRecord, record: AnnotationRecord): boolean {
  if (record.actorKind === "person" && mute.actorKind !== "person") return false;
  return isMadeHere(mute) || !isMadeHere(record);
}

const NO_NUMBERS: ReadonlyMap<string, bigint> = new Map();

async function numbersOf(store: Reads, records: readonly AnnotationRecord[]): Promise<ReadonlyMap<string, bigint>> {
  const [first] = records;
  if (first === undefined) return NO_NUMBERS;
  return new RowEvents(store, first).numbersOf(new Set(records.flatMap(({ target }) => target.eventId ?? [])));
}

function isMute({ signal, target }: AnnotationRecord): boolean {
  return signal.kind === MUTE.kind && signal.label === MUTE.label && target.eventId !== undefined;
}

class MutedEvents {
  readonly #events: ReadonlySet<string>;
  readonly #stretches: EventStretches;
  readonly hasSpans: boolean;

  constructor(mutes: readonly AnnotationRecord[]) {
    this.#events = new Set(mutes.flatMap(({ target }) => target.eventId ?? []));
    const spans = mutes.flatMap((mute) => rowThatCame(mute) ?? []).filter(hasSpan);
    this.#stretches = new EventStretches(spans);
    this.hasSpans = spans.length > 0;
  }

  has(eventId: string, number: bigint | undefined): boolean {
    return this.#events.has(eventId) || (number !== undefined && this.#stretches.has(number));
  }
}

function hasSpan(row: Row): boolean {
  const { first, last } = stretchOf(row);
  return last > first;
}
