import { annotationView } from "../../engine/judgments/annotation-view.ts";
import type { AnnotationEvent } from "../../protocol/judgments/annotation-events.ts";
import type { AnnotationChange, AnnotationRecord, ChangePlace } from "../../store/port/judgments.ts";
import { idOfPlace } from "./judgment-places.ts";
import { plainFrame } from "./sse-frame.ts";

/** A change as it was read once for all who follow; its frame is made once, and only when somebody is shown it. */
export class ChangeFrame {
  readonly #change: AnnotationChange;
  #frame: string | undefined;

  constructor(change: AnnotationChange) {
    this.#change = change;
  }

  get place(): ChangePlace {
    return this.#change.place;
  }

  get annotation(): AnnotationRecord {
    return this.#change.annotation;
  }

  /**
   * Whether it is told to a caller of whom it is known whether blind queues keep anything from it. Such a caller is told of a judgment
   * by others when its item hides it no more; all others when it happens.
   */
  isToldTo(seesAll: boolean): boolean {
    const { change, withheld } = this.#change;
    return seesAll ? change !== "shown" : !withheld;
  }

  frame(): string {
    this.#frame ??= frameOf(this.#change);
    return this.#frame;
  }
}

function frameOf(change: AnnotationChange): string {
  // To those who are told of it there, it is new.
  const event: AnnotationEvent = `annotation.${change.change === "shown" ? "recorded" : change.change}`;
  return `id: ${idOfPlace(change.place)}\n${plainFrame(event, JSON.stringify(annotationView(change.annotation)))}`;
}
