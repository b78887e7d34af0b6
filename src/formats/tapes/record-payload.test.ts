import { describe, expect, test } from "vitest";
import { randomTape } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { i32, i64, u32, u64 } from "../json/codec.ts";
import { Unreadable } from "../json/exact-json.ts";
import { INTEGER_MEMBERS, payloadToRecord, recordToPayload } from "./record-payload.ts";
import { RECORD_KINDS, type TapeRecord } from "./tape.ts";

const sleep = (ms: bigint, more: Partial<TapeRecord> = {}): TapeRecord => ({
  seq: 0n,
  phase: "user_script",
  virtual_time_ms: 0n,
  monotonic_ms: 0n,
  kind: { kind: "clock_sleep", duration_ms: ms },
  ...more,
});

describe("a record as JSON that anybody can read", () => {
  test("comes back as it was, whatever it says", () => {
    for (let seed = 0; seed < 300; seed++) {
      for (const record of randomTape(randomFrom(seed)).records) {
        const payload = JSON.parse(JSON.stringify(recordToPayload(record)));
        expect(payloadToRecord(payload), `seed ${seed}`).toEqual(record);
      }
    }
  });

  test("has a text where a number would not be exact, and only there", () => {
    const most = 9007199254740991n;
    const said = (ms: bigint) => recordToPayload(sleep(ms)).kind["duration_ms"];
    expect([0n, most, most + 1n, 2n ** 64n - 1n].map(said)).toEqual([
      0,
      9007199254740991,
      "9007199254740992",
      "18446744073709551615",
    ]);
    expect(recordToPayload(sleep(0n, { virtual_time_ms: -(2n ** 63n) })).virtual_time_ms).toBe("-9223372036854775808");
  });

  test("knows every integer by its name, and no text has such a name", () => {
    const integers: unknown[] = [u32, u64, i32, i64];
    for (const members of Object.values(RECORD_KINDS)) {
      for (const [name, codec] of Object.entries(members)) {
        expect([name, INTEGER_MEMBERS.has(name)]).toEqual([name, integers.includes(codec)]);
      }
    }
  });

  test.each([
    ["nothing", undefined],
    ["no object", "record"],
    ["a number that is none", { ...recordToPayload(sleep(1n)), seq: "12x" }],
    ["a number that is not whole", { ...recordToPayload(sleep(1n)), seq: 1.5 }],
    ["a number that is too large", { ...recordToPayload(sleep(1n)), seq: "99999999999999999999" }],
    ["a member missing", { seq: 1 }],
  ])("is refused where it could not have been one: %s", (_, payload) => {
    expect(() => payloadToRecord(payload)).toThrow(Unreadable);
  });
});
