const SECOND_MS = 1000;
const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400 * SECOND_MS],
  ["h", 3600 * SECOND_MS],
  ["m", 60 * SECOND_MS],
  ["s", SECOND_MS],
];

/** `850 ms`, `3.2 s`, `4m 10s`, `2d 3h`: the two largest units are enough. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const n = Math.floor(rest / size);
    rest -= n * size;
    return `${n}${unit}`;
  });
  return parts.filter((part) => !part.startsWith("0")).join(" ");
}

export function formatAgo(at: string | undefined, nowMs: number): string {
  if (at === undefined) return "never";
  const ms = nowMs - Date.parse(at);
  return ms < SECOND_MS ? "just now" : `${formatDuration(ms).replace(/\.\d s$/, " s")} ago`;
}

/** The instant that `12h`, `30d` or an ISO 8601 text means, or undefined. */
export function instantFrom(text: string, nowMs: number): string | undefined {
  const relative = /^(\d+)([dhms])$/.exec(text);
  if (relative) {
    const size = UNITS.find(([unit]) => unit === relative[2])?.[1] ?? 0;
    return isoOrNothing(nowMs + Number(relative[1]) * size);
  }
  return /^\d{4}-\d\d-\d\d/.test(text) ? isoOrNothing(Date.parse(text)) : undefined;
}

function isoOrNothing(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
