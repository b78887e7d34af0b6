import { shownRun } from "../../engine/gates/shown-gates.ts";
import { changesSnapshot, type RunEvent } from "../../protocol/events.ts";
import { evolve, type Run } from "../../protocol/runs/run.ts";
import type { Sensitivity } from "../../protocol/runs/snapshot.ts";
import type { StoredEvent } from "../../store/port/store.ts";

/** A run that moves along with its log, for streams of values. */
export class RunFold {
  readonly #sensitivity: Sensitivity;
  #run: Run;

  constructor(run: Run, sensitivity: Sensitivity) {
    this.#run = run;
    this.#sensitivity = sensitivity;
  }

  get version(): number {
    return this.#run.version;
  }

  /** The text GET would give now. */
  get snapshot(): string {
    return JSON.stringify(shownRun(this.#run, this.#sensitivity));
  }

  /** Takes the next event, unless it is in the run already; gives the new snapshot when the event changes it. */
  apply(event: StoredEvent): string | undefined {
    if (event.sequence < this.#run.version) return undefined;
    this.#run = evolve(this.#run, runEvent(event));
    return changesSnapshot(event.type) ? this.snapshot : undefined;
  }
}

function runEvent({ body, sealed }: StoredEvent): RunEvent {
  const doc = JSON.parse(body) as RunEvent;
  return sealed === undefined ? doc : ({ ...doc, sealed: JSON.parse(sealed) } as RunEvent);
}
