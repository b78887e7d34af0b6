import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import type { AnnotationChange, ChangePlace } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";

export type AnnotationListener = (changes: readonly AnnotationChange[]) => void;

type Changes = Pick<Store, "annotationHead" | "annotationChanges">;

const PAGE_ROWS = 256;

/**
 * What happens to the judgments of one tenant from now on, read once for everybody in this process who wants to know.
 * The feed goes by places in the tenant's history, so a notification that is lost costs time and no judgment.
 */
export class AnnotationFeed {
  readonly listeners = new Set<AnnotationListener>();
  readonly #tenant: string;
  readonly #store: Changes;
  readonly #report: (error: unknown) => void;
  #place: ChangePlace | undefined;
  #starting: Promise<void> | undefined;
  #told = false;
  #reading = false;

  constructor(tenant: string, store: Changes, report: (error: unknown) => void) {
    this.#tenant = tenant;
    this.#store = store;
    this.#report = report;
  }

  /** Resolves when everything that is recorded from here on will be heard. */
  ready(): Promise<void> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  wake(): void {
    this.#told = true;
    this.#readOn();
  }

  #readOn(): void {
    if (this.#told && this.#place !== undefined && !this.#reading) void this.#read(this.#place);
  }

  async #start(): Promise<void> {
    this.#place = await this.#store.annotationHead(this.#tenant);
    // A judgment that was committed after the head was read, and notified before its place was known here.
    this.#readOn();
  }

  async #read(from: ChangePlace): Promise<void> {
    this.#reading = true;
    let place = from;
    try {
      while (this.#told) {
        this.#told = false;
        const changes = await this.#store.annotationChanges(this.#tenant, place, PAGE_ROWS);
        place = changes.at(-1)?.place ?? place;
        this.#place = place;
        if (changes.length > 0) for (const listener of this.listeners) listener(changes);
        if (changes.length < PAGE_ROWS) continue;
        this.#told = true;
        await nextTurn();
      }
    } catch (error) {
      // Whoever is told next reads on from the same place.
      if (!(error instanceof AppError && error.mayRetry)) this.#report(error);
    } finally {
      this.#reading = false;
    }
  }
}
