import { AppError } from "../../protocol/errors.ts";
import type { AnnotationPage, AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import { type Client, connect } from "../client/client.ts";
import { readUpTo } from "../client/read-up-to.ts";
import { formatAgo } from "../output/amount.ts";
import { actorText, signalText, targetText, wordsText } from "../output/describe-annotation.ts";
import type { Io } from "../output/io.ts";
import { shorten } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { annotationFilter } from "./annotation-filter.ts";
import type { ANNOTATIONS_FLAGS } from "./commands.ts";
import { type AnnotationNews, followAnnotations } from "./follow-annotations.ts";

const LIMIT = 50;

type Filter = ReturnType<typeof annotationFilter>;

export async function annotations(call: Call<typeof ANNOTATIONS_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const client = connect(config);
  const filter = filterOf(call, Date.now());
  if (flags.watch) return watch(client, filter, io, json);
  const limit = flags.all ? Number.POSITIVE_INFINITY : (flags.limit ?? LIMIT);
  const page = await readPages(client, limit, { ...filter, q: flags.search });
  if (json) io.out(JSON.stringify(page));
  else if (page.annotations.length === 0) io.err("No judgments match.");
  else {
    io.out(table(page.annotations, io, args[0] === undefined, Date.now()));
    if (page.nextCursor !== undefined && io.outIsTerminal) io.err("There are more; show them with --all.");
  }
}

function filterOf({ args, flags }: Call<typeof ANNOTATIONS_FLAGS>, nowMs: number): Filter {
  if (flags.watch && (flags.search !== undefined || flags.all || flags.limit !== undefined)) {
    const problem = "--watch shows everything from now on; leave out --search, --limit and --all";
    throw new AppError("unusable_input", { problem });
  }
  if (flags.all && flags.limit !== undefined) {
    throw new AppError("unusable_input", { problem: "use either --limit or --all" });
  }
  return annotationFilter(args[0], flags, nowMs);
}

async function readPages(
  client: Client,
  limit: number,
  filter: Filter & { q: string | undefined },
): Promise<AnnotationPage> {
  const { items, ...rest } = await readUpTo(limit, async (page) => {
    const { annotations, ...rest } = await client.judgments.list({ ...filter, ...page });
    return { items: annotations, ...rest };
  });
  return { annotations: items, ...rest };
}

const HEADINGS = ["ANNOTATION", "WHEN", "WHO", "SIGNAL", "TARGET", "NOTE"];
const NOTE_LEAST = 24;

/** The note is last, and takes what the others leave of the line. */
function table(found: readonly AnnotationView[], io: Io, withRun: boolean, nowMs: number): string {
  const rows = found.map((one) => [
    one.annotationId,
    formatAgo(one.createdAt, nowMs),
    actorText(one.actor.principalRef, one.actorKind),
    signalText(one),
    targetText(one, withRun),
  ]);
  const widths = HEADINGS.slice(0, -1).map((name, i) =>
    Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const taken = widths.reduce((sum, width) => sum + width + 2, 0);
  const left = Math.max(NOTE_LEAST, columns(io) - taken);
  return formatTable(
    HEADINGS,
    rows.map((row, i) => [...row, shorten(wordsText(found[i] as AnnotationView), left)]),
    io.paint,
  );
}

const FILE_COLUMNS = 240;

function columns({ outIsTerminal }: Io): number {
  return (outIsTerminal ? process.stdout.columns : undefined) ?? FILE_COLUMNS;
}

async function watch(client: Client, query: Filter, io: Io, json: boolean): Promise<undefined> {
  if (io.errIsTerminal) io.err("What happens to judgments from now on is shown here. Ctrl-C ends it.");
  await followAnnotations(client, {
    query,
    signal: io.outClosed,
    onNews: (news) => io.out(json ? JSON.stringify(news) : describe(news, io)),
    onReconnect: ({ message }) => {
      if (io.errIsTerminal) io.err(`Connection lost (${message}); trying again.`);
    },
  });
}

const WIDTH = "superseded".length;

function describe({ event, data }: AnnotationNews, io: Io): string {
  const what = event.slice("annotation.".length).padEnd(WIDTH);
  const parts = [
    event === "annotation.recorded" ? io.paint.cyan(what) : io.paint.yellow(what),
    data.annotationId,
    actorText(data.actor.principalRef, data.actorKind),
    signalText(data),
    targetText(data, true),
  ];
  const line = parts.join("  ");
  return shorten(`${line}  ${wordsText(data)}`.trimEnd(), Math.max(line.length, columns(io)));
}
