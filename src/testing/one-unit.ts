import { randomUUID } from "node:crypto";
import { expect, vi } from "vitest";
import type { Asked, TestHost } from "./host.ts";

/**
 * Sends something twice under one key. What was answered has to be kept with what was done, so that a crash cannot come between the two, and
 * is answered again.
 */
export async function doneInOneUnit(host: TestHost, url: string, asked: Asked) {
  const send = () => host.ask("POST", url, { ...asked, headers: { "idempotency-key": key } });
  const key = randomUUID();
  const commit = vi.spyOn(host.store, "commit");
  const first = await send();
  const kept = commit.mock.calls.flatMap(([unit]) => (unit.idempotency?.key === key ? [unit] : []));
  commit.mockRestore();
  expect(first.statusCode, first.payload).toBeLessThan(300);
  expect(kept.map(({ audit = [] }) => audit.length > 0)).toEqual([true]);
  expect((await send()).json()).toEqual(first.json());
  return first.json();
}
