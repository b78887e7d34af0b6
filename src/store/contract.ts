import { afterEach, beforeEach, describe } from "vitest";
import { annotationChanges } from "../testing/store-contract/annotation-changes.ts";
import { annotationLists } from "../testing/store-contract/annotation-lists.ts";
import { annotationSearch } from "../testing/store-contract/annotation-search.ts";
import { annotations } from "../testing/store-contract/annotations.ts";
import { appending } from "../testing/store-contract/append.ts";
import { audit } from "../testing/store-contract/audit.ts";
import { blindAnnotations } from "../testing/store-contract/blind-annotations.ts";
import { deletions } from "../testing/store-contract/deletion.ts";
import { documents } from "../testing/store-contract/documents.ts";
import { effects } from "../testing/store-contract/effects.ts";
import { externalEvents } from "../testing/store-contract/external-events.ts";
import { feedback } from "../testing/store-contract/feedback.ts";
import { gateSummaries } from "../testing/store-contract/gate-summary.ts";
import { idempotency } from "../testing/store-contract/idempotency.ts";
import { interrupts } from "../testing/store-contract/interrupts.ts";
import { keys } from "../testing/store-contract/keys.ts";
import { largeRows } from "../testing/store-contract/large-rows.ts";
import { lifetime } from "../testing/store-contract/lifetime.ts";
import { outboxes } from "../testing/store-contract/outbox.ts";
import { preconditions } from "../testing/store-contract/preconditions.ts";
import { queue } from "../testing/store-contract/queue.ts";
import { queueItems } from "../testing/store-contract/queue-items.ts";
import { queues } from "../testing/store-contract/queues.ts";
import { reviews } from "../testing/store-contract/reviews.ts";
import { runCounts } from "../testing/store-contract/run-counts.ts";
import { runs } from "../testing/store-contract/runs.ts";
import { side } from "../testing/store-contract/side.ts";
import type { Subject } from "../testing/store-contract/subject.ts";
import { tapes } from "../testing/store-contract/tapes.ts";
import { units } from "../testing/store-contract/unit.ts";
import { webhooks } from "../testing/store-contract/webhooks.ts";
import { workflows } from "../testing/store-contract/workflows.ts";
import type { Store } from "./port/store.ts";

export interface Opened {
  /** A store without anything in it. */
  readonly store: Store;
  /** Opens the same data again after `store.close()`. Left out where nothing outlives the process. */
  readonly reopen?: () => Promise<Store>;
  /** Closes whatever is open and removes the data. */
  done(): Promise<void>;
}

/** The suite that every store passes: the promises of `store.ts`, one test each, the same for all adapters. */
export function storeContract(name: string, open: () => Promise<Opened>): void {
  describe(name, () => {
    let opened: Opened | undefined;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened?.done();
      opened = undefined;
    });

    const subject: Subject = {
      get store() {
        if (opened === undefined) throw new Error("the store is opened before each test, not before");
        return opened.store;
      },
      get reopen() {
        return opened?.reopen;
      },
    } as Subject;

    for (const chapter of CHAPTERS) chapter(subject);
  });
}

const CHAPTERS = [
  appending,
  units,
  largeRows,
  queue,
  runCounts,
  idempotency,
  effects,
  runs,
  workflows,
  keys,
  audit,
  interrupts,
  gateSummaries,
  externalEvents,
  webhooks,
  outboxes,
  annotations,
  annotationLists,
  annotationChanges,
  annotationSearch,
  blindAnnotations,
  feedback,
  queues,
  queueItems,
  tapes,
  reviews,
  documents,
  deletions,
  preconditions,
  side,
  lifetime,
];
