import { Unreadable } from "../../formats/json/exact-json.ts";
import { payloadToRecord } from "../../formats/tapes/tape.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import { describeGateEvent, errorText } from "./describe-gate-event.ts";
import { recordText } from "./describe-record.ts";
import type { Colour, Io } from "./io.ts";
import { printable, printableJson, shorten } from "./printable.ts";

const COLOURS: Readonly<Record<string, Colour>> = {
  "run.completed": "green",
  "run.failed": "red",
  "run.cancelled": "yellow",
  "run.paused": "yellow",
  "node.completed": "green",
  "node.failed": "red",
  "node.retried": "yellow",
  "node.skipped": "dim",
  "cap.breached": "red",
  "replay.diverged": "yellow",
  "interrupt.requested": "yellow",
  "node.suspended": "yellow",
  "approval.granted": "green",
  "approval.rejected": "red",
  "approval.overridden": "red",
};

const TYPE_WIDTH = 29;
const NODE_WIDTH = 12;

/** An event on one line: its time, type and node, and the main part of its payload. */
export function describeEvent(
  event: RunEventDoc,
  { paint, outIsTerminal }: Io,
  columns: number,
  decidedFor?: string,
): string {
  const time = event.timestamp.slice(11, 23);
  const type = printable(event.type).padEnd(TYPE_WIDTH);
  const node = printable(event.nodeId ?? "").padEnd(NODE_WIDTH);
  const origin = decidedFor === undefined ? "" : `decided for run ${printable(decidedFor)}; `;
  const detail = origin + detailOf(event);
  const room = columns - time.length - type.length - node.length - 6;
  const shown = outIsTerminal ? shorten(detail, Math.max(20, room)) : detail;
  const colour = paint[COLOURS[event.type] ?? "cyan"];
  return `${paint.dim(time)}  ${colour(type)}  ${node}  ${shown}`.trimEnd();
}

/**
 * Names the run that a decision was made for, where a fork repeats the decision of another run: the event that raised the
 * interrupt names the run it was raised in. Undefined for every other event.
 */
export function inheritedDecisions(): (event: RunEventDoc) => string | undefined {
  const raisedIn = new Map<unknown, string>();
  return ({ type, runId, payload }) => {
    const fields = (typeof payload === "object" && payload !== null ? payload : {}) as Payload;
    const { interruptId, runId: origin } = fields;
    if (type === "interrupt.requested" && typeof origin === "string" && origin !== runId)
      raisedIn.set(interruptId, origin);
    return type === "interrupt.resolved" ? raisedIn.get(interruptId) : undefined;
  };
}

type Payload = Readonly<Record<string, unknown>>;

function detailOf({ type, payload }: RunEventDoc): string {
  const fields = (typeof payload === "object" && payload !== null ? payload : {}) as Payload;
  switch (type) {
    case "run.started":
      return `${printable(String(fields["workflowId"]))} ${printableJson(fields["inputs"])}`;
    case "run.completed":
    case "node.completed":
      return filled(fields["outputs"]);
    case "run.failed":
    case "node.failed":
      return errorText(fields["error"]);
    case "run.cancelled":
      return endedBy(fields);
    case "node.retried":
      return `again in ${fields["delayMs"]} ms; ${errorText(fields["lastError"])}`;
    case "assay.branch.began":
      return branchText(fields);
    case "assay.tape.record":
      return recordOf(fields) ?? otherwise(fields);
    default:
      return describeGateEvent(type, fields) ?? otherwise(fields);
  }
}

/** The gates at which a branch asks again, and the options that it changed. */
function branchText({ reopens, changes, ...others }: Payload): string {
  const asks = listed("asks again at", reopens);
  const changed = listed("changed", changes);
  return [asks, changed, otherwise(others)].filter((part) => part !== "").join("; ");
}

function listed(what: string, names: unknown): string {
  return Array.isArray(names) && names.length > 0 ? `${what} ${printable(names.join(", "))}` : "";
}

/** A record as text; undefined where another version wrote it in another form. */
function recordOf(fields: Payload): string | undefined {
  try {
    const record = payloadToRecord(fields);
    return `#${record.seq}  ${recordText(record)}`;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

function endedBy({ cancelledBy, reason }: Payload): string {
  const who = typeof cancelledBy === "string" ? `by ${cancelledBy}` : "";
  return printable([who, reason].filter((part) => typeof part === "string" && part !== "").join(": "));
}

function otherwise(fields: Payload): string {
  return typeof fields["reason"] === "string" ? printable(fields["reason"]) : filled(withoutNode(fields));
}

function filled(value: unknown): string {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0 ? printableJson(value) : "";
}

function withoutNode({ nodeId: _, ...rest }: Payload): Payload {
  return rest;
}
