import { vi } from "vitest";

/** Waits until what is expected holds. Long, because a busy machine is not a failure; it is over as soon as it does. */
export function eventually<T>(holds: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(holds, { timeout: 30_000, interval: 20 });
}
