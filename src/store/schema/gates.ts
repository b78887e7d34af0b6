import type { InterruptStatus } from "../../protocol/gates/interrupt.ts";
import { flag, jsonText, type Row, table, text, time } from "./table.ts";

/** Derived from run_events in the append's transaction, one row for each interrupt that was ever raised. */
export const interrupts = table(
  "interrupts",
  {
    interrupt_id: text(),
    tenant: text(),
    workspace: text().orNull,
    run_id: text(),
    workflow_id: text(),
    node_id: text(),
    kind: text(),
    status: text<InterruptStatus>(),
    /** The principals who started the run; see `starters.ts`. */
    started_by: text().orNull,
    requested_at: time(),
    deadline: time().orNull,
    correlation_id: text().orNull,
    /** The event that an external-event interrupt waits for. */
    event_type: text().orNull,
    outcome: text().orNull,
    reason: text().orNull,
    /** Whether a vote took the override path. */
    overridden: flag(),
    decided_by: text().orNull,
    closed_at: time().orNull,
    /** The folded Interrupt. */
    body: jsonText(),
  },
  { key: ["interrupt_id"] },
);
export type InterruptsTable = Row<typeof interrupts>;

/** Derived like `interrupts`: the votes that count now. */
export const interruptVotes = table(
  "interrupt_votes",
  {
    interrupt_id: text(),
    voter: text(),
    tenant: text(),
    workspace: text().orNull,
    workflow_id: text(),
    node_id: text(),
    principal: text(),
    action: text(),
    override: flag(),
    /** When the gate was opened. */
    opened_at: time(),
    voted_at: time(),
  },
  { key: ["interrupt_id", "voter"] },
);
export type InterruptVotesTable = Row<typeof interruptVotes>;

/** Workspace "" is a sender bound to none. */
export const externalEvents = table(
  "external_events",
  {
    tenant: text(),
    workspace: text(),
    correlation_id: text(),
    event_id: text(),
    event_type: text(),
    state: text<"held" | "delivered">(),
    payload: jsonText(),
    answer: jsonText(),
    received_at: time().as("atMs"),
    expires_at: time(),
  },
  { key: ["tenant", "workspace", "correlation_id", "event_id"] },
);
export type ExternalEventsTable = Row<typeof externalEvents>;
