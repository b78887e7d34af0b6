import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AgreementQuery, QueueAgreement } from "../../protocol/queues/agreement-api.ts";
import { wilson } from "../../statistics/wilson.ts";
import type { QueueItemRecord } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { blindness } from "../judgments/list-annotations.ts";
import { isMadeHere } from "../judgments/may-replace.ts";
import { type Judged, judgmentsOf, type QueueItem } from "./decide/item.ts";
import { agreementOf, type Vote } from "./decide/queue-agreement.ts";
import { storedItem } from "./item-record.ts";
import { visibleQueue } from "./queue-record.ts";
import { showsOthers } from "./views.ts";

const PAGE = 500;

/** More than this is not looked at in one request; the answer says so. */
const ITEMS_MAX = 50_000;

/** Of the judgments of the current rounds that still stand: what was retracted or replaced elsewhere counts no more. */
export async function readAgreement(
  host: Host,
  caller: Caller,
  queueId: string,
  { include }: AgreementQuery,
): Promise<QueueAgreement> {
  const { rules } = await visibleQueue(host, caller, queueId);
  const { kind } = rules.judgment;
  const settled = { agreed: 0, disputed: 0, adjudicated: 0 };
  const votes: Vote[][] = [];
  let withdrawn = 0;
  let revised = 0;
  const { items, complete } = await judgedItems(host, caller, queueId, rules.blind);
  for (let i = 0; i < items.length; i += PAGE) {
    const page = items.slice(i, i + PAGE);
    const standing = await standingIn(host, caller, page);
    for (const item of page) {
      count(settled, item);
      const judged = judgmentsOf(item);
      const left = judged.filter((one) => standing.has(one.annotationIds[0] ?? ""));
      withdrawn += judged.length - left.length;
      revised += left.filter((one) => one.revised).length;
      if (left.length > 0) votes.push(left.map(voteOf));
    }
  }
  const { agreed, disputed, adjudicated } = settled;
  const all = agreed + disputed + adjudicated;
  const of = (keep: (vote: Vote) => boolean) => agreementOf(kind, kept(votes, keep));
  return {
    queueId,
    judgment: kind,
    items: votes.length,
    complete,
    settled,
    disputedShare: all === 0 ? null : (disputed + adjudicated) / all,
    disputedInterval: wilson(disputed + adjudicated, all),
    withdrawn,
    revised,
    people: of((vote) => vote.kind === "person"),
    ...(include === "agents" ? { agents: of((vote) => vote.kind !== "person"), all: of(() => true) } : {}),
  };
}

/** Figures tell what was said where it was said about little: what is kept from the caller counts for them later. */
async function judgedItems({ store }: Host, caller: Caller, queueId: string, blind: boolean) {
  const { blindFor } = blindness(caller);
  const items: QueueItem[] = [];
  let last: QueueItemRecord | undefined;
  for (let looked = 0; looked < ITEMS_MAX; looked += PAGE) {
    const page = await store.listQueueItems(caller, defined({ queueId, limit: PAGE, after: last }));
    for (const record of page) {
      const { item } = storedItem(record);
      const shown = blindFor === undefined || showsOthers(item, blind, blindFor);
      if (shown && judgmentsOf(item).length > 0) items.push(item);
    }
    if (page.length < PAGE) return { items, complete: true };
    last = page.at(-1);
  }
  return { items, complete: false };
}

async function standingIn({ store }: Host, { tenant }: Caller, items: readonly QueueItem[]): Promise<Set<string>> {
  const ids = items.flatMap((item) => judgmentsOf(item).flatMap(({ annotationIds }) => annotationIds.slice(0, 1)));
  const standing = new Set<string>();
  for (let i = 0; i < ids.length; i += PAGE) {
    for (const record of await store.annotationsById(tenant, ids.slice(i, i + PAGE))) {
      if (record.state === "live" && isMadeHere(record)) standing.add(record.annotationId);
    }
  }
  return standing;
}

/** Items that need one reviewer only have nobody to disagree with. */
function count(settled: { agreed: number; disputed: number; adjudicated: number }, item: QueueItem): void {
  if (item.required < 2) return;
  if (item.state === "disputed") settled.disputed += 1;
  else if (item.state === "done" && item.final !== undefined) settled[item.final.how] += 1;
}

function voteOf({ reviewer, kind, value }: Judged): Vote {
  return { reviewer, kind, value };
}

function kept(items: readonly (readonly Vote[])[], keep: (vote: Vote) => boolean): Vote[][] {
  return items.map((votes) => votes.filter(keep)).filter((votes) => votes.length > 0);
}
