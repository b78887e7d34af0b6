import { describe, expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { MASK } from "../../protocol/events.ts";
import { LongScrubs } from "./long-scrubs.ts";
import { LONG_TEXT, scrubInTurns } from "./scrub-in-turns.ts";

const KEY = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const WORDS = "some words of a long answer, and more of them. ";

function long(words: string, secret = ""): string {
  return `${secret} ${words.repeat(Math.ceil(LONG_TEXT / words.length))} ${secret}`;
}

const values: Readonly<Record<string, unknown>> = {
  "a short text": `key ${KEY}`,
  "a long text": long(WORDS),
  "a long text with a secret": long(WORDS, KEY),
  "many short texts": Array.from({ length: 20_000 }, (_, i) => ({ note: `word ${i}`, token: `t0ken-${i}-x9Kq2` })),
  "a long name of a member": { [long(WORDS, KEY)]: { password: "hunter2-hunter2" } },
  "nothing but numbers": [1, null, true],
};

describe("scrubbing in turns", () => {
  const known = ["a-value-that-is-known"];
  const plain = scrubber({ known });
  const threaded = { ...plain, scrubLong: (text: string) => longScrubs.scrub(text, known) };
  const longScrubs = new LongScrubs();

  test.each(Object.entries(values))("takes out of %s what scrubbing at once does", async (_, value) => {
    expect(await scrubInTurns(plain, value)).toEqual(plain.scrubValue(value));
    expect(await scrubInTurns(threaded, value)).toEqual(plain.scrubValue(value));
  });

  test("a value without secrets is returned as it is", async () => {
    const value = [long(WORDS), { words: long(WORDS) }];
    expect(await scrubInTurns(threaded, value)).toBe(value);
  });

  test("known values are taken out of long texts by the thread as well", async () => {
    const clean = await scrubInTurns(threaded, long(WORDS, known[0]));
    expect(clean).toContain(MASK);
    expect(clean).not.toContain(known[0]);
  });

  test("other work has its turn while a long text is scrubbed", async () => {
    let turns = 0;
    let over = false;
    const count = () => {
      turns++;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    await scrubInTurns(threaded, long(WORDS, KEY).repeat(20));
    over = true;
    expect(turns).toBeGreaterThan(5);
  });

  test("a text whose thread died is scrubbed here", async () => {
    const dead = new LongScrubs(new URL("data:text/javascript,process.exit(1)"));
    const scrubLong = (text: string) => dead.scrub(text, []);
    expect(await scrubInTurns({ ...plain, scrubLong }, long(WORDS, KEY))).toBe(plain.scrubText(long(WORDS, KEY)));
  });
});
