import { describe, expect, test } from "vitest";
import type { JudgmentEntry } from "../../formats/judgments/judgment-lines.ts";
import { type ImportRequest, Judgment } from "../../protocol/judgments/judgment-file.ts";
import { parse } from "../../protocol/schema.ts";
import { foreignLine } from "../../testing/judgment-files.ts";
import { connect } from "../client/client.ts";
import { type Batch, batchesOf, sendBatch } from "./import.ts";

function entry(line: number, note = ""): JudgmentEntry {
  const { type: _, ...judgment } = foreignLine({ note });
  return { line, judgment: parse(Judgment, judgment, "judgment") };
}

async function batched(entries: readonly JudgmentEntry[]) {
  async function* each() {
    yield* entries;
  }
  const found: (Batch | Extract<JudgmentEntry, { problem: string }>)[] = [];
  for await (const one of batchesOf(each())) found.push(one);
  return found;
}

const places = (found: Awaited<ReturnType<typeof batched>>) =>
  found.map((one) => ("problem" in one ? `not ${one.line}` : `${one.firstLine}-${one.line}: ${one.texts.length}`));

describe("lines to be imported", () => {
  test("are sent five hundred at a time", async () => {
    const entries = Array.from({ length: 1001 }, (_, n) => entry(n + 2));
    expect(places(await batched(entries))).toEqual(["2-501: 500", "502-1001: 500", "1002-1002: 1"]);
    expect(await batched([])).toEqual([]);
  });

  test("are fewer at a time when they are long", async () => {
    const entries = [1, 2, 3, 4].map((n) => entry(n + 1, "é".repeat(n === 2 ? 20_000 : 19_000)));
    expect(places(await batched(entries))).toEqual(["2-5: 4"]);
    const long = Array.from({ length: 12 }, (_, n) => entry(n + 2, "é".repeat(20_000)));
    expect(places(await batched(long))).toEqual(["2-10: 9", "11-13: 3"]);
  });

  test("are numbered as in the file, also where others stand between them", async () => {
    const problem = { line: 4, problem: "it is not JSON" };
    const found = await batched([entry(2), entry(3), problem, entry(5), entry(8), entry(9)]);
    expect(places(found)).toEqual(["2-3: 2", "not 4", "5-5: 1", "8-9: 2"]);
  });
});

describe("a batch that is more than the host takes", () => {
  /** Takes so many lines at once. */
  function smallHost(most: number) {
    const taken: number[] = [];
    const fetch = async (_: string, { body }: RequestInit) => {
      const { lines, firstLine = 0 } = JSON.parse(String(body)) as ImportRequest;
      if (lines.length - 1 > most)
        return Response.json({ error: "payload_too_large", message: "No." }, { status: 413 });
      taken.push(...lines.slice(1).map((_, i) => firstLine + i));
      return Response.json({ imported: lines.length - 1, updated: 0, unchanged: 0, refused: [] });
    };
    return { client: connect({ url: "http://x", key: undefined, timeoutMs: 5000, fetch }), taken };
  }
  const batch: Batch = { firstLine: 10, line: 16, texts: Array.from({ length: 7 }, () => "{}") };

  test("is sent in parts, each line once and under its number", async () => {
    for (const most of [1, 2, 3, 6, 7]) {
      const { client, taken } = smallHost(most);
      expect(await sendBatch(client, batch, false)).toEqual({ imported: 7, updated: 0, unchanged: 0, refused: [] });
      expect(taken).toEqual([10, 11, 12, 13, 14, 15, 16]);
    }
  });

  test("is refused line by line when not even one can be sent", async () => {
    const { refused, imported } = await sendBatch(smallHost(0).client, batch, false);
    expect(imported).toBe(0);
    expect(refused.map(({ line }) => line)).toEqual([10, 11, 12, 13, 14, 15, 16]);
  });
});
