import { AppError } from "../../protocol/errors.ts";
import type { FlaggedItem, InboxFilter, InboxItem, InboxResponse } from "../../protocol/gates/inbox-api.ts";
import type { Input } from "../../sdk/input.ts";
import { type Client, connect } from "../client/client.ts";
import { readUpTo } from "../client/read-up-to.ts";
import { formatRoughly } from "../output/amount.ts";
import { actorText } from "../output/describe-annotation.ts";
import type { Io, Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { INBOX_FLAGS } from "./commands.ts";
import { followInbox, type InboxNews } from "./follow-inbox.ts";

const LIMIT = 50;
const TITLE_WIDTH = 60;

export async function inbox({ flags, json, config, io }: Call<typeof INBOX_FLAGS>): Promise<number> {
  const client = connect(config);
  const query = { workflowId: flags.workflow, kind: flags.kind };
  if (flags.watch && flags.flagged) {
    throw new AppError("unusable_input", { problem: "follow flags with: assay annotations --flagged --watch" });
  }
  if (flags.watch) return watch(client, query, io, json);
  const { limit = LIMIT } = flags;
  const gates = await readUpTo(limit, (page) => client.gates.inbox({ ...query, ...page }));
  const flagged = flags.flagged ? await readFlagged(client, limit, query) : {};
  if (json) io.out(JSON.stringify({ ...gates, ...flagged }));
  else show({ ...gates, ...flagged }, limit, io);
  return EXIT.fine;
}

function show({ items, nextCursor, flagged = [], nextFlaggedCursor }: InboxResponse, limit: number, io: Io): void {
  if (items.length + flagged.length === 0) io.err("Nothing waits for you.");
  const tables = [
    ...(items.length === 0 ? [] : [table(items, io.paint, Date.now())]),
    ...(flagged.length === 0 ? [] : [flaggedTable(flagged, io.paint, Date.now())]),
  ];
  if (tables.length > 0) io.out(tables.join("\n\n"));
  if (!io.outIsTerminal) return;
  if (nextCursor !== undefined || nextFlaggedCursor !== undefined) {
    io.err(`There are more; show them with --limit ${limit * 5}.`);
  }
  if (items.length > 0) io.err("Decide one with: assay resolve INTERRUPT accept|reject");
  if (flagged.length > 0) io.err("Close a flag with: assay annotate --close ANNOTATION --note TEXT");
}

type Query = Input<Pick<InboxFilter, "workflowId" | "kind">>;

async function readFlagged(
  client: Client,
  limit: number,
  filter: Query,
): Promise<Pick<InboxResponse, "flagged" | "nextFlaggedCursor">> {
  const { items, nextCursor } = await readUpTo(limit, async ({ limit, cursor }) => {
    const { flagged = [], nextFlaggedCursor } = await client.gates.inbox({
      ...filter,
      flagged: "true",
      flaggedCursor: cursor,
      limit,
    });
    return { items: flagged, ...(nextFlaggedCursor === undefined ? {} : { nextCursor: nextFlaggedCursor }) };
  });
  return { flagged: items, ...(nextCursor === undefined ? {} : { nextFlaggedCursor: nextCursor }) };
}

function flaggedTable(flagged: readonly FlaggedItem[], paint: Paint, nowMs: number): string {
  const rows = flagged.map((flag) => [
    formatRoughly(nowMs - Date.parse(flag.createdAt)),
    printable(flag.workflowId),
    printable(flag.nodeId === undefined ? flag.runId : `${flag.runId} node ${flag.nodeId}`),
    actorText(flag.actor, flag.actorKind),
    shorten(printable(flag.note ?? ""), TITLE_WIDTH),
    flag.annotationId,
  ]);
  return formatTable(["AGE", "WORKFLOW", "FLAGGED", "BY", "NOTE", "ANNOTATION"], rows, paint);
}

function table(items: readonly InboxItem[], paint: Paint, nowMs: number): string {
  const rows = items.map((item) => [
    formatRoughly(item.ageSeconds * 1000),
    deadlineText(item, nowMs),
    printable(item.workflowId),
    shorten(printable(item.title), TITLE_WIDTH),
    waitsFor(item),
    item.interruptId,
  ]);
  return formatTable(["AGE", "DEADLINE", "WORKFLOW", "TITLE", "WAITS FOR", "INTERRUPT"], rows, paint);
}

function deadlineText({ deadline }: InboxItem, nowMs: number): string {
  return deadline === null ? "-" : `in ${formatRoughly(Date.parse(deadline) - nowMs)}`;
}

function waitsFor({ kind, granted, required, rejected, mine }: InboxItem): string {
  if (kind !== "approval") return kind;
  const against = rejected === 0 ? "" : `, ${rejected} against`;
  return `approval ${granted}/${required}${against}${mine === null ? "" : `, yours: ${mine}`}`;
}

async function watch(client: Client, query: Query, io: Io, json: boolean): Promise<number> {
  if (io.errIsTerminal) io.err("What opens, changes and closes is shown here. Ctrl-C ends it.");
  await followInbox(client, {
    query,
    signal: io.outClosed,
    onNews: (news) => io.out(json ? JSON.stringify(news) : describe(news, io.paint)),
    onReconnect: ({ message }) => {
      if (io.errIsTerminal) io.err(`Connection lost (${message}); trying again.`);
    },
  });
  return EXIT.fine;
}

function describe(news: InboxNews, paint: Paint): string {
  if (news.event === "inbox.closed") {
    const { interruptId, status, outcome } = news.data;
    return `${paint.dim("closed ")}  ${interruptId}  ${printable(outcome ?? status)}`;
  }
  const { data } = news;
  const what = news.event === "inbox.opened" ? paint.cyan("opened ") : paint.yellow("updated");
  const title = shorten(printable(data.title), TITLE_WIDTH);
  return `${what}  ${data.interruptId}  ${printable(data.workflowId)}  ${waitsFor(data)}  ${title}`;
}
