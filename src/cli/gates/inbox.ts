import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { FlaggedItem, InboxFilter, InboxItem, InboxResponse } from "../../protocol/gates/inbox-api.ts";
import type { Input } from "../../sdk/input.ts";
import type { StreamOptions } from "../../sdk/settings.ts";
import { type Client, connect, type FrameOf, readUpTo, reconnectNotice } from "../client/client.ts";
import { formatRoughly } from "../output/amount.ts";
import { actorText } from "../output/describe-annotation.ts";
import type { Io, Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatTable, hintAtMore } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { INBOX_FLAGS } from "./commands.ts";

const LIMIT = 50;
const TITLE_WIDTH = 60;

export async function inbox({ flags, json, config, io }: Call<typeof INBOX_FLAGS>): Promise<undefined> {
  const client = connect(config);
  const query = { workflowId: flags.workflow, kind: flags.kind };
  if (flags.watch && flags.flagged) throw unusableInput("follow flags with: assay annotations --flagged --watch");
  if (flags.watch) return watch(client, query, io, json);
  const { limit = LIMIT } = flags;
  const gates = await readUpTo<"items", InboxItem>(limit, "items", (page) => client.gates.inbox({ ...query, ...page }));
  const flagged = flags.flagged ? await readFlagged(client, limit, query) : {};
  if (json) io.out(JSON.stringify({ ...gates, ...flagged }));
  else show({ ...gates, ...flagged }, limit, io);
}

function show({ items, nextCursor, flagged = [], nextFlaggedCursor }: InboxResponse, limit: number, io: Io): void {
  if (items.length + flagged.length === 0) io.err("Nothing waits for you.");
  const tables = [
    ...(items.length === 0 ? [] : [table(items, io.paint, Date.now())]),
    ...(flagged.length === 0 ? [] : [flaggedTable(flagged, io.paint, Date.now())]),
  ];
  if (tables.length > 0) io.out(tables.join("\n\n"));
  if (!io.outIsTerminal) return;
  if (nextCursor !== undefined || nextFlaggedCursor !== undefined) hintAtMore(io, limit);
  if (items.length > 0) io.err("Decide one with: assay resolve INTERRUPT accept|reject");
  if (flagged.length > 0) io.err("Close a flag with: assay annotate --close ANNOTATION --note TEXT");
}

type Query = Input<Pick<InboxFilter, "workflowId" | "kind">>;

async function readFlagged(
  client: Client,
  limit: number,
  filter: Query,
): Promise<Pick<InboxResponse, "flagged" | "nextFlaggedCursor">> {
  const { flagged, nextCursor } = await readUpTo(limit, "flagged", async ({ limit, cursor }) => {
    const page = { ...filter, flagged: "true", flaggedCursor: cursor, limit } as const;
    const { flagged = [], nextFlaggedCursor } = await client.gates.inbox(page);
    return { flagged, ...defined({ nextCursor: nextFlaggedCursor }) };
  });
  return { flagged, ...defined({ nextFlaggedCursor: nextCursor }) };
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
    item.deadline === null ? "-" : `in ${formatRoughly(Date.parse(item.deadline) - nowMs)}`,
    printable(item.workflowId),
    shorten(printable(item.title), TITLE_WIDTH),
    waitsFor(item),
    item.interruptId,
  ]);
  return formatTable(["AGE", "DEADLINE", "WORKFLOW", "TITLE", "WAITS FOR", "INTERRUPT"], rows, paint);
}
function waitsFor({ kind, granted, required, rejected, mine }: InboxItem): string {
  if (kind !== "approval") return kind;
  const against = rejected === 0 ? "" : `, ${rejected} against`;
  return `approval ${granted}/${required}${against}${mine === null ? "" : `, yours: ${mine}`}`;
}

async function watch(client: Client, query: Query, io: Io, json: boolean): Promise<undefined> {
  if (io.errIsTerminal) io.err("What opens, changes and closes is shown here. Ctrl-C ends it.");
  await followInbox(client, {
    query,
    signal: io.outClosed,
    onChange: (change) => io.out(json ? JSON.stringify(change) : describe(change, io.paint)),
    onReconnect: reconnectNotice(io),
  });
}

function describe(change: InboxChange, paint: Paint): string {
  if (change.event === "inbox.closed") {
    const { interruptId, status, outcome } = change.data;
    return `${paint.dim("closed ")}  ${interruptId}  ${printable(outcome ?? status)}`;
  }
  const { data } = change;
  const what = change.event === "inbox.opened" ? paint.cyan("opened ") : paint.yellow("updated");
  const title = shorten(printable(data.title), TITLE_WIDTH);
  return `${what}  ${data.interruptId}  ${printable(data.workflowId)}  ${waitsFor(data)}  ${title}`;
}

/** A change of the inbox. `status` is `unknown` for an interrupt that was closed while the connection was lost. */
export type InboxChange =
  | { readonly event: "inbox.opened" | "inbox.updated"; readonly data: InboxItem }
  | {
      readonly event: "inbox.closed";
      readonly data: {
        readonly interruptId: string;
        readonly runId: string;
        readonly status: string;
        readonly outcome?: string;
      };
    };

interface FollowingInbox extends Pick<StreamOptions, "onReconnect" | "patienceMs"> {
  readonly query: Input<InboxFilter>;
  readonly signal: AbortSignal;
  onChange(change: InboxChange): void;
}

/**
 * Passes on the open interrupts and every change of them until `signal` ends it. After a lost connection the server sends all open
 * interrupts again; only changes are passed on.
 */
export async function followInbox(client: Client, following: FollowingInbox): Promise<void> {
  const { query, onChange, ...options } = following;
  const known = new Map<string, InboxItem>();
  const seen = new Set<string>();
  const onReconnect = (error: Error) => {
    seen.clear();
    following.onReconnect?.(error);
  };
  for await (const frame of client.gates.follow(query, { ...options, onReconnect })) {
    for (const change of changesIn(frame, known, seen)) onChange(change);
  }
}

type Frame = FrameOf<Client["gates"]["follow"]>;

function changesIn({ event, data }: Frame, known: Map<string, InboxItem>, seen: Set<string>): InboxChange[] {
  switch (event) {
    case "inbox.opened":
    case "inbox.updated": {
      const { interruptId } = data;
      const before = known.get(interruptId);
      known.set(interruptId, data);
      seen.add(interruptId);
      if (before === undefined) return [{ event: "inbox.opened", data }];
      return sameVotes(before, data) ? [] : [{ event: "inbox.updated", data }];
    }
    case "inbox.closed":
      return known.delete(data.interruptId) ? [{ event, data }] : [];
    case "inbox.snapshot": {
      const gone = [...known.values()].filter(({ interruptId }) => !seen.has(interruptId));
      for (const { interruptId } of gone) known.delete(interruptId);
      return gone.map(({ interruptId, runId }) => ({
        event: "inbox.closed",
        data: { interruptId, runId, status: "unknown" },
      }));
    }
    default:
      return [];
  }
}

function sameVotes(a: InboxItem, b: InboxItem): boolean {
  return JSON.stringify(a.votes) === JSON.stringify(b.votes);
}
