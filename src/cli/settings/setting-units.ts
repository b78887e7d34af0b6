/** What the numbers of settings have in common, by what they count. */
export const DAY_MS = 86_400_000;
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX = Number.MAX_SAFE_INTEGER;
export const ms = { type: "integer", unit: "milliseconds", max: MAX_TIMER_MS, value: "MS" } as const;
export const count = { type: "integer", min: 1, max: MAX, value: "N" } as const;
export const bytes = { type: "integer", unit: "bytes", min: 1024, max: 2 ** 30, value: "BYTES" } as const;
export const seconds = { type: "integer", unit: "seconds", min: 1, max: MAX / 1000, value: "SECONDS" } as const;
