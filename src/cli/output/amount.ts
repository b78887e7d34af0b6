const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** `12,345 rows`, `1 row`. */
export function formatCount(count: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  // Not toLocaleString: the first call of that takes longer than most commands.
  const digits = String(count).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${digits} ${count === 1 ? noun : plural}`;
}

/** `512 bytes`, `1.4 MB`. */
export function formatBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${bytes} bytes` : `${amount.toFixed(1)} ${UNITS[unit]}`;
}
