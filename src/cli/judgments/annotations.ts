import { unusableInput } from "../../protocol/errors.ts";
import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import type { StreamOptions } from "../../sdk/settings.ts";
import { type Client, connect, type FrameOf, readUpTo, reconnectNotice } from "../client/client.ts";
import { instantArgument } from "../files/arguments.ts";
import { formatAgo } from "../output/amount.ts";
import { actorText, signalText, targetText, wordsText } from "../output/describe-annotation.ts";
import type { Io } from "../output/io.ts";
import { shorten } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { ANNOTATION_FILTERS, ANNOTATIONS_FLAGS } from "./commands.ts";

const SHOWN = 50;

export function annotationFilter(
  runId: string | undefined,
  flags: Call<typeof ANNOTATION_FILTERS>["flags"],
  nowMs: number,
) {
  return {
    runId,
    workflowId: flags.workflow,
    agentId: flags.agent,
    nodeId: flags.node,
    signal: flags.signal,
    label: flags.label,
    actor: flags.actor,
    actorKind: flags.actorKind,
    state: flags.state,
    flagged: flags.flagged ? ("open" as const) : undefined,
    from: instantArgument("--from", flags.from, nowMs),
    to: instantArgument("--to", flags.to, nowMs),
  };
}

type Filter = ReturnType<typeof annotationFilter>;

export async function annotations(call: Call<typeof ANNOTATIONS_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const { judgments } = connect(config);
  const filter = filterOf(call, Date.now());
  if (flags.watch) return watch(judgments, filter, io, json);
  const limit = flags.all ? Number.POSITIVE_INFINITY : (flags.limit ?? SHOWN);
  const answer = await readUpTo(limit, "annotations", (page) =>
    judgments.list({ ...filter, q: flags.search, ...page }),
  );
  if (json) io.out(JSON.stringify(answer));
  else if (answer.annotations.length === 0) io.err("No judgments match.");
  else {
    io.out(table(answer.annotations, io, args[0] === undefined, Date.now()));
    if (answer.nextCursor !== undefined && io.outIsTerminal) io.err("There are more; show them with --all.");
  }
}

function filterOf({ args, flags }: Call<typeof ANNOTATIONS_FLAGS>, nowMs: number): Filter {
  if (flags.watch && (flags.search !== undefined || flags.all || flags.limit !== undefined)) {
    throw unusableInput("--watch shows everything from now on; leave out --search, --limit and --all");
  }
  if (flags.all && flags.limit !== undefined) throw unusableInput("use either --limit or --all");
  return annotationFilter(args[0], flags, nowMs);
}

const HEADINGS = ["ANNOTATION", "WHEN", "WHO", "SIGNAL", "TARGET", "NOTE"];
const NOTE_LEAST = 24;

/** The note is last and gets the rest of the line. */
function table(found: readonly AnnotationView[], io: Io, withRun: boolean, nowMs: number): string {
  const rows = found.map((one) => ({
    cells: [
      one.annotationId,
      formatAgo(one.createdAt, nowMs),
      actorText(one.actor.principalRef, one.actorKind),
      signalText(one),
      targetText(one, withRun),
    ],
    note: wordsText(one),
  }));
  const widths = HEADINGS.slice(0, -1).map((name, i) =>
    Math.max(name.length, ...rows.map(({ cells }) => cells[i]?.length ?? 0)),
  );
  const taken = widths.reduce((sum, width) => sum + width + 2, 0);
  const left = Math.max(NOTE_LEAST, columns(io) - taken);
  const lines = rows.map(({ cells, note }) => [...cells, shorten(note, left)]);
  return formatTable(HEADINGS, lines, io.paint);
}

const FILE_COLUMNS = 240;

function columns({ outIsTerminal }: Io): number {
  return (outIsTerminal ? process.stdout.columns : undefined) ?? FILE_COLUMNS;
}

type Judgments = Client["judgments"];
type AnnotationChange = Pick<FrameOf<Judgments["follow"]>, "event" | "data">;

async function watch(judgments: Judgments, filter: Filter, io: Io, json: boolean): Promise<undefined> {
  if (io.errIsTerminal) io.err("Changes of judgments from now on are shown here. Ctrl-C ends it.");
  const options = { signal: io.outClosed, onReconnect: reconnectNotice(io) };
  for await (const change of annotationChanges(judgments, filter, options)) {
    io.out(json ? JSON.stringify(change) : changeText(change, io));
  }
}

/** Every change from now on, each once, however often the connection breaks. */
export async function* annotationChanges(
  judgments: Judgments,
  filter: Parameters<Judgments["follow"]>[0] & object,
  options: StreamOptions,
): AsyncGenerator<AnnotationChange> {
  for await (const { event, data } of judgments.follow(filter, options)) {
    // Frames of a later version may be about something else.
    if (event.startsWith("annotation.")) yield { event, data };
  }
}

const CHANGE_WIDTH = "superseded".length;

function changeText({ event, data }: AnnotationChange, io: Io): string {
  const change = event.slice("annotation.".length).padEnd(CHANGE_WIDTH);
  const parts = [
    event === "annotation.recorded" ? io.paint.cyan(change) : io.paint.yellow(change),
    data.annotationId,
    actorText(data.actor.principalRef, data.actorKind),
    signalText(data),
    targetText(data, true),
  ];
  const line = parts.join("  ");
  return shorten(`${line}  ${wordsText(data)}`.trimEnd(), Math.max(line.length, columns(io)));
}
