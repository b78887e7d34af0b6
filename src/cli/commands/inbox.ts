import type { InboxItem, InboxResponse } from "../../protocol/inbox-api.ts";
import { type Client, connect } from "../client.ts";
import type { Call } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { followInbox, type InboxNews } from "../follow-inbox.ts";
import type { Io, Paint } from "../io.ts";
import { printable, shorten } from "../printable.ts";
import type { INBOX_FLAGS } from "../specs/inbox.ts";
import { formatTable } from "../table.ts";
import { formatRoughly } from "../when.ts";

const LIMIT = 50;
const PAGE_MAX = 200;
const TITLE_WIDTH = 60;

export async function inbox({ flags, json, config, io }: Call<typeof INBOX_FLAGS>): Promise<number> {
  const client = connect(config);
  const query = { workflowId: flags.workflow, kind: flags.kind };
  if (flags.watch) return watch(client, query, io, json);
  const { limit = LIMIT } = flags;
  const page = await readInbox(client, limit, query);
  const { items, nextCursor } = page;
  if (json) io.out(JSON.stringify(page));
  else if (items.length === 0) io.err("Nothing waits for you.");
  else {
    io.out(table(items, io.paint, Date.now()));
    if (io.outIsTerminal) {
      if (nextCursor !== undefined) io.err(`There are more; show them with --limit ${limit * 5}.`);
      io.err("Decide one with: assay resolve INTERRUPT accept|reject");
    }
  }
  return EXIT.fine;
}

type Query = Readonly<Record<string, string | undefined>>;

async function readInbox(client: Client, limit: number, filter: Query): Promise<InboxResponse> {
  const items: InboxItem[] = [];
  let cursor: string | undefined;
  do {
    const query = { ...filter, cursor, limit: Math.min(limit - items.length, PAGE_MAX) };
    const page: InboxResponse = await client.json("/v1/host/assay/inbox", { query });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined && items.length < limit);
  return cursor === undefined ? { items } : { items, nextCursor: cursor };
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
    onReconnect: (reason) => {
      if (io.errIsTerminal) io.err(`Connection lost (${reason}); trying again.`);
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
