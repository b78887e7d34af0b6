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

  frame(): string {
    this.#frame ??= frameOf(this.#change);
    return this.#frame;
  }
}

function frameOf(change: AnnotationChange): string {
  const event: AnnotationEvent = `annotation.${change.change}`;
  return `id: ${idOfPlace(change.place)}\n${plainFrame(event, JSON.stringify(annotationView(change.annotation)))}`;
}
