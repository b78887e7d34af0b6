import { defined } from "../../protocol/defined.ts";
import type { DebugBundle } from "../../protocol/runs/bundle-api.ts";
import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import { isRecorded } from "../../protocol/words.ts";
import { connect, readUpTo } from "../client/client.ts";
import { instantArgument } from "../files/arguments.ts";
import { refuseExisting, writeWhole } from "../files/write-file.ts";
import { formatAgo, formatBetween, formatCount } from "../output/amount.ts";
import { branchNote, errorText, subjectOf } from "../output/describe-gate-event.ts";
import type { Io, Paint } from "../output/io.ts";
import { printable, printableJson, shorten } from "../output/printable.ts";
import { formatFields, formatTable, paintStatus, printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { RUN_BUNDLE_FLAGS, RUN_LIST_FLAGS } from "./commands.ts";

const LIMIT = 20;

export async function runList(call: Call<typeof RUN_LIST_FLAGS>): Promise<undefined> {
  const { limit = LIMIT, ...flags } = call.flags;
  const nowMs = Date.now();
  const filter = defined({
    status: flags.status,
    workflowId: flags.workflow,
    agentId: flags.agent,
    tag: flags.tag,
    from: instantArgument("--since", flags.since, nowMs),
    to: instantArgument("--until", flags.until, nowMs),
  });
  const client = connect(call.config);
  const answer = await readUpTo(limit, "runs", (page) => client.runs.list({ ...filter, ...page }));
  const isFiltered = Object.keys(filter).length > 0;
  printList(call, answer.runs, answer, {
    empty: isFiltered ? "No runs match." : "No runs yet. Start one with: assay run start WORKFLOW",
    limit,
    headings: ["RUN", "WORKFLOW", "STATUS", "STARTED", "TOOK", "TAGS"],
    row: (run) => [
      run.runId,
      printable(run.workflowId),
      paintStatus(run.status, call.io.paint),
      formatAgo(run.startedAt, nowMs),
      formatBetween(run.startedAt, run.completedAt),
      printable((run.tags ?? []).join(",")),
    ],
  });
}

export async function runShow({ args: [runId = ""], json, config, io }: Call): Promise<undefined> {
  const snapshot = await connect(config).runs.get(runId);
  io.out(json ? JSON.stringify(snapshot) : showRun(snapshot, io, Date.now()));
}

/** A run as text: its fields, then its interrupts, nodes, children, variables and outputs where it has any. */
export function showRun(run: RunSnapshot, { paint }: Io, nowMs: number): string {
  const { startedAt, completedAt } = run;
  const took = startedAt && completedAt ? ` (took ${formatBetween(startedAt, completedAt)})` : "";
  const fields = {
    Run: run.runId,
    Workflow: printable(run.workflowId),
    Status: paintStatus(run.status, paint),
    Started: startedAt && `${startedAt} (${formatAgo(startedAt, nowMs)})`,
    Ended: completedAt && `${completedAt}${took}`,
    Owner:
      run.owner && printable([run.owner.tenant, run.owner.workspace, run.owner.principal].filter(Boolean).join("/")),
    Tags: run.tags?.length ? printable(run.tags.join(", ")) : undefined,
    Metadata: metadataText(run),
    "Forked from": forkedFrom(run),
    "Came as": cameAs(run),
    Parent: run.parentRunId && `${run.parentRunId} (node ${printable(run.parentNodeId ?? "")})`,
    Error: run.error && paint.red(errorText(run.error)),
  };
  const facts = formatFields(fields, paint);
  const parts = [
    facts,
    interrupts(run, paint, nowMs),
    nodes(run, paint),
    children(run, paint),
    values("Variables", run.variables, paint),
    values("Outputs", run.outputs, paint),
  ];
  return parts.filter((part) => part !== undefined).join("\n\n");
}

function metadataText({ metadata = {} }: RunSnapshot): string | undefined {
  const { forkedFrom: _, tape: __, ...own } = metadata;
  const facts = Object.entries(own).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return facts.length === 0 ? undefined : shorten(printable(facts.join(", ")), METADATA_CHARACTERS);
}

const METADATA_CHARACTERS = 200;

function forkedFrom({ metadata }: RunSnapshot): string | undefined {
  const from = metadata?.["forkedFrom"] as { runId?: unknown; fromSeq?: unknown; motivatedBy?: unknown } | undefined;
  if (typeof from?.runId !== "string") return undefined;
  const because = typeof from.motivatedBy === "string" ? `, because of ${from.motivatedBy}` : "";
  return printable(`${from.runId} at sequence ${from.fromSeq}${because}`);
}

function cameAs(run: RunSnapshot): string | undefined {
  if (!isRecorded(run)) return undefined;
  const { name, digest } = (run.metadata?.["tape"] ?? {}) as { name?: unknown; digest?: unknown };
  return printable(`tape ${typeof name === "string" ? `${name}, ` : ""}digest ${digest}`);
}

function interrupts({ interrupts: open = [] }: RunSnapshot, paint: Paint, nowMs: number): string | undefined {
  const rows = open.map(({ nodeId, kind, data, tally, requestedAt, deadline, interruptId }) => [
    printable(nodeId),
    kind,
    tally === undefined ? "" : `${tally.granted}/${tally.required}`,
    formatAgo(requestedAt, nowMs),
    deadline ?? "",
    interruptId,
    printable(subjectOf(data)),
  ]);
  const headings = ["WAITS AT", "FOR", "VOTES", "SINCE", "UNTIL", "INTERRUPT", ""];
  const notes = open.flatMap(({ nodeId, data }) => {
    const note = branchNote(data);
    return note === undefined ? [] : [`${printable(nodeId)}: ${note}`];
  });
  return rows.length === 0 ? undefined : [formatTable(headings, rows, paint), ...notes].join("\n");
}

function children({ childRuns = [] }: RunSnapshot, paint: Paint): string | undefined {
  const rows = childRuns.map(({ runId, status, workflowId, nodeId }) => [
    runId,
    paintStatus(status, paint),
    printable(workflowId),
    printable(nodeId),
  ]);
  return rows.length === 0 ? undefined : formatTable(["CHILD RUN", "STATUS", "WORKFLOW", "OF NODE"], rows, paint);
}

interface NodeLine {
  readonly status: string;
  readonly attempt: number;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly dueAt?: string;
  readonly error?: unknown;
  readonly decidedFor?: unknown;
}

function nodes({ nodeStates = {} }: RunSnapshot, paint: Paint): string | undefined {
  const rows = Object.entries(nodeStates as Readonly<Record<string, NodeLine>>).map(([id, node]) => [
    printable(id),
    paintStatus(node.status, paint),
    String(node.attempt + 1),
    formatBetween(node.startedAt, node.endedAt),
    remarkOn(node),
  ]);
  return rows.length === 0 ? undefined : formatTable(["NODE", "STATUS", "ATTEMPT", "TOOK", ""], rows, paint);
}

function remarkOn({ error, dueAt, decidedFor }: NodeLine): string {
  const decided = typeof decidedFor === "string" ? [`decided for run ${printable(decidedFor)}`] : [];
  const state = error ? [errorText(error)] : dueAt ? [`due ${dueAt}`] : [];
  return [...state, ...decided].join("; ");
}

function values(title: string, fields: Readonly<Record<string, unknown>> = {}, paint: Paint): string | undefined {
  const lines = Object.entries(fields).map(([name, value]) => [`  ${printable(name)}`, printableJson(value)] as const);
  if (lines.length === 0) return undefined;
  return `${paint.bold(title)}\n${formatFields(Object.fromEntries(lines), paint)}`;
}

/** The document is always JSON; with --output, --json changes the report of the written file. */
export async function runBundle(call: Call<typeof RUN_BUNDLE_FLAGS>): Promise<undefined> {
  const {
    args: [runId = ""],
    flags,
    json,
    config,
    io,
  } = call;
  if (flags.output !== undefined) refuseExisting(flags.output, flags.force);
  const text = await (await connect(config).runs.bundle(runId).asResponse()).text();
  const bundle: DebugBundle = JSON.parse(text);
  const { truncatedReason } = bundle;
  if (flags.output === undefined) {
    io.out(text);
  } else {
    await writeWhole(flags.output, [`${text}\n`], { ownerOnly: true });
    const events = bundle.events.length;
    const annotations = bundle.annotations.length;
    if (json)
      io.out(JSON.stringify({ file: flags.output, events, annotations, ...(truncatedReason && { truncatedReason }) }));
    else io.out(`${flags.output}: ${formatCount(events, "event")}, ${formatCount(annotations, "annotation")}`);
  }
  if (truncatedReason !== undefined) io.err(`assay: the bundle does not hold everything: ${truncatedReason}.`);
}
