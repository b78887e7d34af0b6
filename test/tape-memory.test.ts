import { expect, test } from "vitest";
import { smallHost } from "./small-host.ts";

const HEADER =
  '{"type":"header","version":1,"harn_version":"1.0.0","started_at_unix_ms":0,"script_path":"a.ts","argv":[]}\n';

/** A tape of records with long texts; one letter makes each character of it two bytes in memory. */
function tapeOf(bytes: number): string {
  const path = `\u0416${"a long text of a record, ".repeat(4000)}`;
  const count = Math.floor(bytes / path.length);
  const line = (seq: number) =>
    `{"type":"record","seq":${seq},"phase":"user_script","virtual_time_ms":0,"monotonic_ms":0,"kind":{"kind":"file_delete","path":"${seq} ${path}"}}\n`;
  return HEADER + Array.from({ length: count }, (_, seq) => line(seq)).join("");
}

test("tapes that are too large for the memory of the host are refused, and those that fit are taken", {
  timeout: 120_000,
}, async () => {
  const { ask, isAlive } = await smallHost(256);
  const send = (bytes: number, name: string) => ask("POST", "/v1/host/assay/tapes", { tape: tapeOf(bytes), name });
  expect([0, 413]).toContain(await send(54_000_000, "too large"));
  const both = await Promise.all([send(15_000_000, "one"), send(14_900_000, "two")]);
  expect(both).toEqual([201, 201]);
  expect(isAlive()).toBe(true);
});
