/** `12,345 rows`, `1 row`. */
export function formatCount(count: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  // Not toLocaleString: the first call of that takes longer than most commands.
  const digits = String(count).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${digits} ${count === 1 ? noun : plural}`;
}

const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** `512 bytes`, `1.4 MB`. */
export function formatBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < BYTE_UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${bytes} bytes` : `${amount.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** `12.5 %`. */
export function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const SECOND_MS = 1000;
const TIME_UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400 * SECOND_MS],
  ["h", 3600 * SECOND_MS],
  ["m", 60 * SECOND_MS],
  ["s", SECOND_MS],
];

/** `850 ms`, `3.2 s`, `4m 10s`, `2d 3h`: the two largest units are enough. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const first = TIME_UNITS.findIndex(([, size]) => ms >= size);
  let rest = ms;
  const parts = TIME_UNITS.slice(first, first + 2).map(([unit, size]) => {
    const n = Math.floor(rest / size);
    rest -= n * size;
    return `${n}${unit}`;
  });
  return parts.filter((part) => !part.startsWith("0")).join(" ");
}

/** The time from one instant to another; empty unless both are known. */
export function formatBetween(startedAt: string | undefined, endedAt: string | undefined): string {
  return startedAt && endedAt ? formatDuration(Date.parse(endedAt) - Date.parse(startedAt)) : "";
}

/** The same in whole seconds, for times that have moved on by the time they are read. */
export function formatRoughly(ms: number): string {
  return ms < SECOND_MS ? "0 s" : formatDuration(ms).replace(/\.\d s$/, " s");
}

export function formatAgo(at: string | undefined, nowMs: number): string {
  if (at === undefined) return "never";
  const ms = nowMs - Date.parse(at);
  return ms < SECOND_MS ? "just now" : `${formatRoughly(ms)} ago`;
}

/** The instant that `45m`, `12h` or `30d` from now is, or undefined when the text is no such time. */
export function fromNow(text: string, nowMs: number): string | undefined {
  return instantAt(nowMs + durationMs(text));
}

/** The same time ago. */
export function beforeNow(text: string, nowMs: number): string | undefined {
  return instantAt(nowMs - durationMs(text));
}

/** Not a number when the text is no time. */
function durationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,9})([dhms])$/.exec(text) ?? [];
  return Number(amount) * (TIME_UNITS.find(([name]) => name === unit)?.[1] ?? Number.NaN);
}

function instantAt(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
