import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AgreementQuery, QueueAgreement } from "../../protocol/queues/agreement-api.ts";
import { wilson } from "../../statistics/wilson.ts";
import type { QueueItemRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Host } from "../host.ts";
import { blindness } from "../judgments/list-annotations.ts";
import { pauses } from "../worker/pauses.ts";
import { type Judged, judgmentsOf, type QueueItem } from "./decide/item.ts";
import { QueueTally, type Vote } from "./decide/queue-agreement.ts";
import { storedItem, visibleQueue } from "./queue-records.ts";
import { showsOthers } from "./views.ts";

const PAGE = 500;

/** Items that one request reads; the response says whether there are more. */
const ITEMS_MAX = 50_000;

/** The agreement of the current rounds' judgments. Judgments that were retracted or replaced do not count. */
export async function readAgreement(
  host: Host,
  caller: Caller,
  queueId: string,
  { include }: AgreementQuery,
): Promise<QueueAgreement> {
  const { rules } = await visibleQueue(host, caller, queueId);
  const { kind } = rules.judgment;
  const withAgents = include === "agents";
  const settled = { agreed: 0, disputed: 0, adjudicated: 0 };
  const [people, agents, everyone] = [new QueueTally(), new QueueTally(), new QueueTally()];
  let items = 0;
  let withdrawn = 0;
  let revised = 0;
  const pages = judgedItems(host, caller, queueId, rules.blind);
  const pause = pauses();
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    const live = await liveIn(host, caller, page.value);
    for (const item of page.value) {
      count(settled, item);
      const judged = judgmentsOf(item);
      const left = judged.filter((one) => live.has(one.annotationIds[0] ?? ""));
      withdrawn += judged.length - left.length;
      revised += left.filter((one) => one.revised).length;
      if (left.length > 0) items += 1;
      const votes = left.map(voteOf);
      people.add(votes.filter((vote) => vote.kind === "person"));
      if (withAgents) {
        agents.add(votes.filter((vote) => vote.kind !== "person"));
        everyone.add(votes);
      }
      await pause();
    }
  }
  const { agreed, disputed, adjudicated } = settled;
  const all = agreed + disputed + adjudicated;
  return {
    queueId,
    judgment: kind,
    items,
    complete: page.value,
    settled,
    disputedShare: all === 0 ? null : (disputed + adjudicated) / all,
    disputedInterval: wilson(disputed + adjudicated, all),
    withdrawn,
    revised,
    people: people.figures(kind),
    ...(withAgents ? { agents: agents.figures(kind), all: everyone.figures(kind) } : {}),
  };
}

/** The judged items that the caller may see: figures about few items would reveal hidden judgments. Returns whether these were all items. */
async function* judgedItems(
  { store }: Host,
  caller: Caller,
  queueId: string,
  blind: boolean,
): AsyncGenerator<readonly QueueItem[], boolean> {
  const { blindFor } = blindness(caller);
  let last: QueueItemRecord | undefined;
  for (let looked = 0; looked < ITEMS_MAX; ) {
    const page = await store.listQueueItems(caller, defined({ queueId, limit: PAGE, after: last }));
    looked += page.length;
    const items = page.map((record) => storedItem(record).item);
    yield items.filter((item) => {
      const shown = blindFor === undefined || showsOthers(item, blind, blindFor);
      return shown && judgmentsOf(item).length > 0;
    });
    if (isLastPage(page, PAGE)) return true;
    last = page.at(-1);
  }
  return false;
}

async function liveIn({ store }: Host, { tenant }: Caller, items: readonly QueueItem[]): Promise<Set<string>> {
  const ids = items.flatMap((item) => judgmentsOf(item).flatMap(({ annotationIds }) => annotationIds.slice(0, 1)));
  const live = new Set<string>();
  for (let i = 0; i < ids.length; i += PAGE) {
    for (const id of await store.liveAnnotations(tenant, ids.slice(i, i + PAGE))) live.add(id);
  }
  return live;
}

/** Counts the outcome of an item. Items for a single reviewer have no agreement. */
function count(settled: { agreed: number; disputed: number; adjudicated: number }, item: QueueItem): void {
  if (item.required < 2) return;
  if (item.state === "disputed") settled.disputed += 1;
  else if (item.state === "done" && item.final !== undefined) settled[item.final.how] += 1;
}

function voteOf({ reviewer, kind, value }: Judged): Vote {
  return { reviewer, kind, value };
}
