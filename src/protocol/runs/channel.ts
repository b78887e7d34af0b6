import { MASK } from "../events.ts";

/** A channel's rules and what its writes have folded to. Rebuilt from `assay.channel.opened` and `channel.written`. */
export interface Channel {
  readonly reducer: string;
  readonly maxSize?: number;
  readonly ttlMs?: number;
  readonly sensitive?: boolean;
  /** For replace, merge and counter. */
  readonly value?: unknown;
  /** For append, votes, feedback and message: each input with the time of its event. */
  readonly entries?: readonly ChannelEntry[];
}

export interface ChannelEntry {
  readonly atMs: number;
  readonly value: unknown;
}

const LISTS = new Set(["append", "votes", "feedback", "message"]);

export function openChannel(rules: {
  reducer: string;
  default?: unknown;
  maxSize?: number;
  ttlMs?: number;
  sensitive?: boolean;
}): Channel {
  const { default: initial, ...rest } = rules;
  if (LISTS.has(rules.reducer)) {
    const values = Array.isArray(initial) ? initial : [];
    return { ...rest, entries: values.map((value) => ({ atMs: 0, value })) };
  }
  if (initial !== undefined) return { ...rest, value: initial };
  return rules.reducer === "counter" ? { ...rest, value: 0 } : { ...rest };
}

/** Folds one write. `atMs` is the time of the recorded event, never the time of the fold. */
export function reduceChannel(channel: Channel, value: unknown, atMs: number): Channel {
  switch (channel.reducer) {
    case "counter":
      return { ...channel, value: asNumber(channel.value) + asNumber(value) };
    case "merge":
      return { ...channel, value: { ...asObject(channel.value), ...asObject(value) } };
    case "append":
    case "feedback":
      return withEntries(channel, [...fresh(channel, atMs), { atMs, value }]);
    case "votes": {
      const voter = field(value, "voter");
      const others = fresh(channel, atMs).filter((entry) => field(entry.value, "voter") !== voter);
      return withEntries(channel, [...others, { atMs, value }]);
    }
    case "message": {
      const id = field(value, "messageId");
      const known = (channel.entries ?? []).some((entry) => field(entry.value, "messageId") === id);
      return known ? channel : withEntries(channel, [...(channel.entries ?? []), { atMs, value }]);
    }
    default:
      return { ...channel, value };
  }
}

/** The part of the input that the reducer cannot fold; undefined when there is none. */
export function reducerProblem(reducer: string, value: unknown): string | undefined {
  switch (reducer) {
    case "counter":
      return Number.isFinite(value) ? undefined : "a counter takes a finite number";
    case "merge":
      return isObject(value) ? undefined : "merge takes an object";
    case "votes":
      return typeof field(value, "voter") === "string" ? undefined : "votes takes an object with a voter";
    case "message":
      return typeof field(value, "messageId") === "string" ? undefined : "message takes an object with a messageId";
    default:
      return undefined;
  }
}

/** The channel's value as readers see it; expired entries are the ones the last write already dropped. */
export function channelValue(channel: Channel): unknown {
  if (channel.sensitive) return MASK;
  return channel.entries ? channel.entries.map((entry) => entry.value) : (channel.value ?? null);
}

/**
 * A list channel with a time to live, as the run's variables show it: `_ts` is the time of the write in milliseconds
 * since 1970, so that a reader sees when an entry expires. Undefined for every other channel.
 */
export function timedEntries(channel: Channel): unknown {
  if (channel.ttlMs === undefined || channel.entries === undefined) return undefined;
  if (channel.sensitive) return MASK;
  return channel.entries.map(({ atMs, value }) => ({ value, _ts: atMs }));
}

function fresh(channel: Channel, atMs: number): readonly ChannelEntry[] {
  const entries = channel.entries ?? [];
  if (channel.ttlMs === undefined) return entries;
  const oldest = atMs - channel.ttlMs;
  return entries.filter((entry) => entry.atMs > oldest);
}

function withEntries(channel: Channel, entries: readonly ChannelEntry[]): Channel {
  const over = channel.maxSize === undefined ? 0 : Math.max(0, entries.length - channel.maxSize);
  return { ...channel, entries: over > 0 ? entries.slice(over) : entries };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function asNumber(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
