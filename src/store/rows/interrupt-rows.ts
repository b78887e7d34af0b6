import { resourceOf } from "../../protocol/evolve/interrupts.ts";
import type { Interrupt, Vote } from "../../protocol/gates/interrupt.ts";
import { own } from "../../protocol/own.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { DeliveryRecord, DeliveryWrite, StoredInterrupt } from "../port/gates.ts";
import type { RunWrite } from "../port/store.ts";
import type { InterruptsTable, InterruptVotesTable } from "../schema/gates.ts";
import { type DeliveriesTable, deliveries } from "../schema/webhooks.ts";

/** The derived rows that a write replaces. */
export interface InterruptChanges {
  readonly interrupts: readonly InterruptsTable[];
  /** Interrupts whose votes are replaced as a whole: an edit of the artifact removes the votes of others. */
  readonly voted: readonly { readonly interruptId: string; readonly votes: readonly InterruptVotesTable[] }[];
  /** The run has no interrupts any more: all of its rows go, after those above were written. */
  readonly dropped?: { readonly runId: string; readonly tenant: string };
}

const NONE: InterruptChanges = { interrupts: [], voted: [] };

/** Changes that a write makes in `interrupts` and `interrupt_votes`. Empty for runs without interrupts, which most are. */
export function changedRows({ events, run }: Pick<RunWrite, "events" | "run">): InterruptChanges {
  if (run.stateOmitted !== undefined && events.some(({ type }) => type === "assay.state.dropped")) {
    return { ...NONE, dropped: { runId: run.runId, tenant: run.owner.tenant } };
  }
  if (!hasInterrupts(run)) return NONE;
  const changed = new Set<string>();
  const voted = new Set<string>();
  for (const event of events) {
    switch (event.type) {
      case "interrupt.requested":
      case "interrupt.resolved":
      case "assay.gate.asked":
        changed.add(event.payload.interruptId);
        break;
      case "assay.vote.recorded":
        changed.add(event.payload.interruptId);
        voted.add(event.payload.interruptId);
        break;
      case "authorization.decided":
        if (event.payload.resource.startsWith(PREFIX)) changed.add(event.payload.resource.slice(PREFIX.length));
        break;
      case "assay.starter.added":
      case "assay.times.corrected":
        for (const interruptId of Object.keys(run.interrupts)) changed.add(interruptId);
        break;
      case "run.completed":
      case "run.failed":
      case "run.cancelled":
        for (const { interruptId } of cancelled(run)) changed.add(interruptId);
    }
  }
  return {
    interrupts: those(run, changed).map((interrupt) => interruptRow(run, interrupt)),
    voted: those(run, voted).map((interrupt) => ({
      interruptId: interrupt.interruptId,
      votes: interrupt.votes.map((vote) => voteRow(run, interrupt, vote)),
    })),
  };
}

/** Every row of a run, in the order of their keys: what the tables must hold. */
export function allRows(run: Run): { interrupts: InterruptsTable[]; votes: InterruptVotesTable[] } {
  const interrupts = sortedBy(Object.values(run.interrupts).filter(isOwn), ({ interruptId }) => interruptId);
  return {
    interrupts: interrupts.map((interrupt) => interruptRow(run, interrupt)),
    votes: interrupts.flatMap((interrupt) =>
      sortedBy(interrupt.votes, ({ voter }) => voter).map((vote) => voteRow(run, interrupt, vote)),
    ),
  };
}

const PREFIX = resourceOf("");

function hasInterrupts({ interrupts }: Run): boolean {
  for (const _ in interrupts) return true;
  return false;
}

/** The rows of what a fork inherits are its source's: ids are unique, and a gate is opened once. */
function isOwn({ inherited }: Interrupt): boolean {
  return inherited !== true;
}

function cancelled({ interrupts }: Run): Interrupt[] {
  return Object.values(interrupts).filter(({ status }) => status === "cancelled");
}

function those({ interrupts }: Run, ids: ReadonlySet<string>): Interrupt[] {
  return [...ids].flatMap((id) => own(interrupts, id) ?? []).filter(isOwn);
}

function interruptRow(run: Run, interrupt: Interrupt): InterruptsTable {
  const { interruptId, nodeId, kind, status, data, deadlineMs, closedAt } = interrupt;
  const eventType = data["eventType"];
  return {
    interrupt_id: interruptId,
    tenant: run.owner.tenant,
    workspace: run.owner.workspace ?? null,
    run_id: run.runId,
    workflow_id: run.workflowId,
    node_id: nodeId,
    kind,
    status,
    started_by: startersText(startersOf(run)),
    requested_at: Date.parse(interrupt.requestedAt),
    deadline: deadlineMs ?? null,
    correlation_id: interrupt.correlationId ?? null,
    event_type: kind === "external-event" && typeof eventType === "string" ? eventType : null,
    outcome: interrupt.outcome ?? null,
    reason: interrupt.reason ?? null,
    overridden: interrupt.votes.some(({ override }) => override) ? 1 : 0,
    decided_by: interrupt.resolvedBy ?? null,
    closed_at: closedAt === undefined ? null : Date.parse(closedAt),
    // With its sensitive values, as in `runs.state`: nothing serves it that has not gone through the engine.
    body: JSON.stringify(interrupt),
  };
}

function voteRow(run: Run, interrupt: Interrupt, vote: Vote): InterruptVotesTable {
  return {
    interrupt_id: interrupt.interruptId,
    voter: vote.voter,
    tenant: run.owner.tenant,
    workspace: run.owner.workspace ?? null,
    workflow_id: run.workflowId,
    node_id: interrupt.nodeId,
    principal: vote.principal,
    action: vote.action,
    override: vote.override === true ? 1 : 0,
    opened_at: Date.parse(interrupt.requestedAt),
    voted_at: Date.parse(vote.at),
  };
}

/** In byte order where ids and names are ASCII, which is the order of both databases. */
function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Rows of gates and deliveries where more is to be done than the description of the table says. */

export type InterruptColumns = Pick<
  InterruptsTable,
  "interrupt_id" | "tenant" | "workspace" | "run_id" | "workflow_id" | "started_by" | "status" | "body"
>;

export function toStoredInterrupt(row: InterruptColumns): StoredInterrupt {
  return {
    interruptId: row.interrupt_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    runId: row.run_id,
    workflowId: row.workflow_id,
    starters: startersIn(row.started_by),
    status: row.status,
    interrupt: JSON.parse(row.body) as Interrupt,
  };
}

/** The webhook of a delivery that has none: the callback of a run. */
export const CALLBACK = "";

export function toDelivery(row: DeliveriesTable): DeliveryRecord {
  const delivery = deliveries.toRecord(row);
  return row.webhook_id === CALLBACK ? delivery : { ...delivery, webhookId: row.webhook_id };
}

/** Due at once, in the order in which things happened. */
export function deliveryRow(tenant: string, delivery: DeliveryWrite): DeliveriesTable {
  const due = { tenant, state: "pending", attempts: 0, nextAtMs: delivery.atMs } as const;
  return { ...deliveries.toRow({ ...delivery, ...due }), webhook_id: delivery.webhookId ?? CALLBACK };
}

/**
 * The column `started_by` of an interrupt: one name as it is, several as a JSON array. A name that begins like an array
 * is written as one.
 */
export function startersText(starters: readonly string[]): string | null {
  const [first, ...others] = starters;
  if (first === undefined) return null;
  return others.length === 0 && !first.startsWith("[") ? first : JSON.stringify(starters);
}

/** Rows of earlier versions hold one name, however it begins. */
export function startersIn(text: string | null): readonly string[] {
  if (text === null) return [];
  return (text.startsWith("[") ? namesIn(text) : undefined) ?? [text];
}

function namesIn(text: string): string[] | undefined {
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) && names.every((one) => typeof one === "string") ? names : undefined;
  } catch {
    return undefined;
  }
}
