import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { pick, type Random, randomFrom } from "../../testing/random-workflow.ts";
import { type Ending, type OutcomeName, TurnReader } from "./outcome.ts";
import { readRequest } from "./request.ts";

const recorded = new URL("../../../test/reviews/", import.meta.url);
const filesIn = (folder: string, name: RegExp) =>
  readdirSync(new URL(folder, recorded))
    .filter((file) => name.test(file))
    .map((file) => readFileSync(new URL(`${folder}${file}`, recorded)))
    .filter(({ length }) => length < 20_000);
const streams = filesIn("streams/", /\.ndjson$/);
const requests = filesIn("fixtures/", /^req-/);

const OUTCOMES: readonly OutcomeName[] = [
  "session_mismatch",
  "response_success",
  "response_error",
  "timeout",
  "tool_error",
  "stream_cut",
  "invalid_answer",
  "unparseable_answer",
  "tool_failed",
  "no_answer",
];
const ENDINGS: readonly Ending[] = [
  { exitCode: 0, stderr: "" },
  { exitCode: 1, stderr: "" },
  { exitCode: null, signal: "SIGTERM", stderr: "" },
  { exitCode: null, limited: true, stderr: "" },
];

/** What readers of JSON, of lines and of UTF-8 stumble over. */
const ODD = ["\n", "\r\n", "{", "}", '"', "\\", "```", "\u2028", "\ufeff", "\u0000", "1e400", '{"__proto__":{"a":1}}'];

/** A few bytes taken out, put in or repeated, or the end cut off. */
function damaged(random: Random, source: Buffer): Buffer {
  let bytes = source;
  for (let changes = Math.floor(random() * 4); changes > 0; changes--) {
    const at = Math.floor(random() * (bytes.length + 1));
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
    const put = pick(random, [...ODD.map((odd) => Buffer.from(odd)), Buffer.from([0xff]), tail.subarray(0, 200)]);
    const kept = pick(random, [tail, tail.subarray(1), tail.subarray(20), tail.subarray(tail.length)]);
    bytes = Buffer.concat([head, put, kept]);
  }
  return bytes;
}

function outcomeOf(pieces: readonly Uint8Array[], ending: Ending) {
  const reader = new TurnReader({ iteration: 1, sentIds: ["clarify-scope-01"] });
  for (const piece of pieces) reader.take(piece);
  return { ...reader.end(ending), answered: reader.answered, lines: reader.lines };
}

describe("whatever the bytes are", () => {
  test("a stream has one outcome, and the same wherever it is cut into pieces", () => {
    const random = randomFrom(7);
    for (let i = 0; i < 400; i++) {
      const bytes = damaged(random, pick(random, streams));
      const ending = pick(random, ENDINGS);
      const whole = outcomeOf([bytes], ending);
      expect(OUTCOMES).toContain(whole.outcome);
      const singly = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
      expect(outcomeOf(singly, ending), `${i}`).toEqual(whole);
      const at = Math.floor(random() * bytes.length);
      expect(outcomeOf([bytes.subarray(0, at), bytes.subarray(at)], ending), `${i}`).toEqual(whole);
    }
  });

  test("a request is taken or refused for one reason, and what is taken is taken again when written anew", () => {
    const random = randomFrom(11);
    let taken = 0;
    for (let i = 0; i < 1_000; i++) {
      const checked = readRequest(damaged(random, pick(random, requests)));
      if (!checked.ok) {
        expect(checked.message).not.toBe("");
        continue;
      }
      taken++;
      expect(readRequest(Buffer.from(JSON.stringify(checked.request)))).toEqual(checked);
    }
    expect(taken).toBeGreaterThan(100);
  });
});
