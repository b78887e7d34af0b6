import { setImmediate as nextTurn } from "node:timers/promises";
import { endsLog } from "../../engine/runs/event-pages.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";

/** The position of a task's score in the log of its evaluation. */
export interface ScoredEvent {
  readonly eventId: string;
  readonly sequence: number;
  readonly taskId: string;
}

const PAGE = 1000;

/** In the order of the log. */
export async function scoredEvents(store: Pick<Store, "readEvents">, runId: string): Promise<ScoredEvent[]> {
  const found: ScoredEvent[] = [];
  for (let from = 0; ; ) {
    const page = await store.readEvents(runId, from, PAGE);
    for (const event of page) if (event.type === "eval.scored") found.push(scoredIn(event));
    if (endsLog(page, PAGE)) return found;
    from = (page.at(-1) as StoredEvent).sequence + 1;
    await nextTurn();
  }
}

function scoredIn({ body, sequence }: StoredEvent): ScoredEvent {
  const { eventId, payload } = JSON.parse(body) as { eventId: string; payload: { taskId: string } };
  return { eventId, sequence, taskId: payload.taskId };
}
