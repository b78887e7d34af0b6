import type {
  PrincipalSelector,
  QueueInfo,
  QueueItemView,
  QueueJudgment,
  QueueQuery,
  QueueView,
} from "../../protocol/queues/api.ts";
import { formatDuration } from "./amount.ts";
import type { Paint } from "./io.ts";
import { printable } from "./printable.ts";
import { formatFields, formatTable } from "./table.ts";

/** A queue as text: its rules, what is in it, and what each reviewer has done. */
export function showQueue(queue: QueueView, paint: Paint): string {
  const { items, reviewers, filling } = queue;
  const counts = (["open", "disputed", "done", "closed"] as const)
    .map((state) => `${items[state]} ${state}`)
    .join(", ");
  const fields = {
    Queue: queue.queueId,
    Name: printable(queue.name),
    About: queue.description && printable(queue.description),
    State: queue.state === "open" ? paint.green("open") : paint.yellow("closed"),
    "Takes in": takesIn(queue.query),
    "Asks for": printable(asksFor(queue)),
    Reviewers: reviewersText(queue),
    Adjudicators: queue.adjudicators && printable(selectorText(queue.adjudicators)),
    Lease: formatDuration(queue.leaseSeconds * 1000),
    Items: `${counts}${filling ? paint.dim(" (still filling)") : ""}`,
  };
  const facts = formatFields(fields, paint);
  if (reviewers.length === 0) return facts;
  const rows = reviewers.map(({ reviewer, judged, skipped, leased }) => [
    printable(reviewer),
    String(judged),
    String(skipped),
    String(leased),
  ]);
  return `${facts}\n\n${formatTable(["REVIEWER", "JUDGED", "SKIPPED", "HOLDS"], rows, paint)}`;
}

export function takesIn(query: QueueQuery | undefined): string {
  if (query === undefined) return "what is added by hand";
  const { workflowId, agentId, status, nodeId, flagged, label, ratingMax, from, sample } = query;
  const parts = [
    workflowId === undefined ? "runs" : `runs of ${workflowId}`,
    nodeId && `at node ${nodeId}`,
    agentId && `by agent ${agentId}`,
    status && `that are ${status}`,
    flagged && "with an open flag",
    label && `labelled ${label}`,
    ratingMax && `rated ${ratingMax} or worse`,
    from && `since ${from}`,
    sample && `${Number((sample * 100).toPrecision(3))} % of them`,
  ];
  return printable(parts.filter(Boolean).join(", "));
}

/** The answer that a queue asks reviewers for, in a few words. */
export function askedFor(judgment: QueueJudgment): string {
  if (judgment.kind === "rating") return "a rating from 1 to 5";
  return judgment.kind === "flag" ? "yes (flag it) or no" : `one of ${judgment.labels.join(", ")}`;
}

function asksFor({ judgment, noteRequired, correction, maxSpread }: QueueInfo): string {
  const parts = [
    askedFor(judgment),
    noteRequired && "a note",
    correction !== "off" && `a correction (${correction})`,
    maxSpread > 0 && `ratings ${maxSpread} apart still agree`,
  ];
  return parts.filter(Boolean).join("; ");
}

function reviewersText({ reviewersRequired, assign, blind }: QueueInfo): string {
  const who = assign === undefined ? "any person who may annotate" : selectorText(assign);
  return printable(`${reviewersRequired} per item, ${who}${blind ? ", blind" : ""}`);
}

function selectorText({ people = [], roles = [], groups = [] }: PrincipalSelector): string {
  return [...people, ...roles.map((role) => `role ${role}`), ...groups.map((group) => `group ${group}`)].join(", ");
}

/** An item as text, for the reviewer who is about to judge it. */
export function showItem(item: QueueItemView, { paint, nowMs }: { paint: Paint; nowMs: number }): string {
  const { mine, final } = item;
  const until = mine?.until === undefined ? undefined : Date.parse(mine.until) - nowMs;
  const fields = {
    Item: item.itemId,
    Run: item.runId,
    Node: item.nodeId && printable(item.nodeId),
    Event: item.eventId && printable(item.eventId),
    Workflow: printable(item.workflowId),
    Agent: item.agentId && printable(item.agentId),
    State: stateText(item, paint),
    Yours: until === undefined || until <= 0 ? undefined : `for ${formatDuration(until)}`,
    Judgments: item.judgments?.map(({ reviewer, value }) => printable(`${reviewer}: ${value}`)).join(", ") || undefined,
    Final: final === null ? undefined : printable(`${final.value} (${final.by ?? final.how})`),
  };
  return formatFields(fields, paint);
}

export function stateText({ state, judged, required, round }: QueueItemView, paint: Paint): string {
  const text = `${state}, ${judged} of ${required} judged${round > 1 ? `, round ${round}` : ""}`;
  return state === "done" ? paint.green(text) : state === "disputed" ? paint.yellow(text) : text;
}
