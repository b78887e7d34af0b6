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

/** Not a number when the text is none. */
function durationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,9})([dhms])$/.exec(text) ?? [];
  return Number(amount) * (UNITS.find(([name]) => name === unit)?.[1] ?? Number.NaN);
}

function instantAt(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
