import { setImmediate as nextTurn } from "node:timers/promises";
import { annotationView } from "../../engine/judgments/annotation-view.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { timeOfId } from "../../protocol/id.ts";
import type { AnnotationEvent } from "../../protocol/judgments/annotation-api.ts";
import {
  ANNOTATION_CHANGES,
  type AnnotationChange,
  type AnnotationChangeKind,
  type ChangePlace,
} from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Change, Store } from "../../store/port/store.ts";
import { plainFrame } from "./event-frames.ts";
import { forEachSubscriber } from "./stream-subscriber.ts";

/**
 * The id of a frame is the place of its change, and a stream begins with one: a client that resumes after it needs no look-up, so later events
 * of the change (its run was deleted, the change was imported again) do not move the client forward.
 */
export function idOfPlace({ seq, n }: ChangePlace): string {
  return `at-${seq}.${n}`;
}

type Places = Pick<Store, "annotationHead" | "changePlace">;

const START: ChangePlace = { seq: 0, n: 0 };

/**
 * The place at which a client resumes. Until version 0.1, ids named the annotation and its change. A client with such an id resumes at the
 * place of that change; at the beginning when the change is gone, because its time says nothing about the order of commits.
 */
export async function placeAfter(store: Places, tenant: string, lastEventId: string | undefined): Promise<ChangePlace> {
  if (lastEventId === undefined) return store.annotationHead(tenant);
  const [, seq, n] = /^at-(\d{1,15})\.(\d{1,9})$/.exec(lastEventId) ?? [];
  if (seq !== undefined) {
    // A place after the head: the database was restored from an earlier time. A client that waited for that place would
    // miss all changes until then.
    return earlier({ seq: Number(seq), n: Number(n) }, await store.annotationHead(tenant));
  }
  const { annotationId, change } = changeNamed(lastEventId);
  const place = await store.changePlace(tenant, annotationId, change);
  if (place !== undefined) return place;
  if (annotationId.startsWith("ann-") && timeOfId(annotationId) !== undefined) return START;
  throw validationError("Last-Event-ID must be the id of a frame of this stream");
}

function changeNamed(id: string): { annotationId: string; change: AnnotationChangeKind } {
  for (const change of ANNOTATION_CHANGES) {
    const ending = `.${change}`;
    if (change !== "recorded" && id.endsWith(ending)) return { annotationId: id.slice(0, -ending.length), change };
  }
  return { annotationId: id, change: "recorded" };
}

function earlier(a: ChangePlace, b: ChangePlace): ChangePlace {
  return a.seq < b.seq || (a.seq === b.seq && a.n <= b.n) ? a : b;
}

/** A change that is read once for all followers; its frame is made once, for the first subscriber that may see it. */
export class ChangeFrame {
  readonly change: AnnotationChange;
  #frame: string | undefined;

  constructor(change: AnnotationChange) {
    this.change = change;
  }

  /**
   * Whether the stream of a caller has it. Callers from whom blind queues hide nothing receive a judgment when it is recorded; all others
   * when its item no longer hides it.
   */
  isShownTo(seesAll: boolean): boolean {
    const { change, withheld } = this.change;
    return seesAll ? change !== "shown" : !withheld;
  }

  frame(): string {
    this.#frame ??= frameOf(this.change);
    return this.#frame;
  }
}

function frameOf({ change, place, annotation }: AnnotationChange): string {
  // To the callers that receive it then, a judgment that is shown is new.
  const event: AnnotationEvent = `annotation.${change === "shown" ? "recorded" : change}`;
  return `id: ${idOfPlace(place)}\n${plainFrame(event, JSON.stringify(annotationView(annotation)))}`;
}

/** Reads the changes of a tenant from its own place on. */
interface ChangeFollower {
  readonly place: ChangePlace;
  /** Whether it is to be read for. */
  readonly wantsMore: boolean;
  /** There may be changes after its place. */
  markBehind(): void;
  /** There are none, as of the read that begins now. */
  markCurrent(): void;
  take(page: readonly ChangeFrame[]): Promise<void>;
}

interface ChangeSubscriber extends ChangeFollower {
  cut(): void;
}

const PAGE_ROWS = 100;

/**
 * The changes of the judgments of one tenant, read once for all followers at the same place. Every place gets one page in turn, so a
 * follower with many pages to read does not delay the others. A lost notification delays changes and loses none.
 */
export class ChangeFeed<S extends ChangeSubscriber> {
  /** Changes from now on, for listeners in this process. */
  readonly live: LiveChanges;
  readonly #store: Pick<Store, "annotationChanges" | "annotationHead">;
  readonly #tenant: string;
  readonly #report: (error: unknown) => void;
  readonly #subscribers = new Set<S>();
  #isReading = false;

  constructor(
    store: Pick<Store, "annotationChanges" | "annotationHead">,
    tenant: string,
    report: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#tenant = tenant;
    this.#report = report;
    this.live = new LiveChanges(
      () => store.annotationHead(tenant),
      () => this.resume(),
    );
  }

  get subscribers(): ReadonlySet<S> {
    return this.#subscribers;
  }

  get isIdle(): boolean {
    return this.#subscribers.size === 0 && !this.live.isHeld;
  }

  add(subscriber: S): void {
    this.#subscribers.add(subscriber);
    this.resume();
  }

  remove(subscriber: S): void {
    this.#subscribers.delete(subscriber);
  }

  changed({ annotations, runIds }: Change): void {
    if (!annotations && runIds !== "all") return;
    for (const follower of this.#followers) follower.markBehind();
    this.resume();
  }

  /** Reads for all followers that want more. */
  resume(): void {
    if (!this.#isReading) void this.#read();
  }

  get #followers(): readonly ChangeFollower[] {
    return [...this.#subscribers, this.live];
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      for (let groups = this.#groups(); groups.length > 0; groups = this.#groups()) {
        for (const group of groups) {
          await this.#readFor(group);
          await nextTurn();
        }
      }
    } catch (error) {
      this.#databaseError(error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Followers by place. */
  #groups(): ChangeFollower[][] {
    const groups = new Map<string, ChangeFollower[]>();
    for (const follower of this.#followers) {
      if (!follower.wantsMore) continue;
      const key = idOfPlace(follower.place);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(follower);
    }
    return [...groups.values()];
  }

  async #readFor(group: readonly ChangeFollower[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    const { place } = first;
    // Before the read: a change that is notified during it may have come too late for it.
    for (const follower of group) follower.markCurrent();
    const changes = await this.#store.annotationChanges(this.#tenant, place, PAGE_ROWS);
    const page = changes.map((change) => new ChangeFrame(change));
    if (!isLastPage(changes, PAGE_ROWS)) for (const follower of group) follower.markBehind();
    await forEachSubscriber(group, (follower) => follower.take(page));
  }

  /** Each follower is still at the place of its last change, and continues from there at the next notification. */
  #databaseError(error: unknown): void {
    if (error instanceof AppError && error.mayRetry) return;
    this.#report(error);
    for (const subscriber of [...this.#subscribers]) subscriber.cut();
  }
}

export type ChangeListener = (change: AnnotationChange) => void;

/** Follows all changes of a tenant from the moment it is ready. It keeps its place while it has no listeners, so the next one needs no look-up. */
class LiveChanges implements ChangeFollower {
  readonly listeners = new Set<ChangeListener>();
  readonly #head: () => Promise<ChangePlace>;
  readonly #resume: () => void;
  #place: ChangePlace | undefined;
  #starting: Promise<void> | undefined;
  #isBehind = false;
  #holds = 0;

  constructor(head: () => Promise<ChangePlace>, resume: () => void) {
    this.#head = head;
    this.#resume = resume;
  }

  get place(): ChangePlace {
    return this.#place ?? START;
  }

  get wantsMore(): boolean {
    return this.#isBehind && this.#place !== undefined;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Keeps the feed; returns what ends that. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
    };
  }

  /** Resolves when every change that is committed from here on will reach the listeners. */
  ready(): Promise<void> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    this.#place = await this.#head();
    // A change may have been committed after the head was read, and notified before its place was known here.
    this.#resume();
  }

  markBehind(): void {
    this.#isBehind = true;
  }

  markCurrent(): void {
    this.#isBehind = false;
  }

  async take(page: readonly ChangeFrame[]): Promise<void> {
    for (const { change } of page) {
      this.#place = change.place;
      for (const listener of this.listeners) listener(change);
    }
  }
}
