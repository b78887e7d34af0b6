import { describe, expect, test } from "vitest";
import { aRecord, aTape, fileOf, tapeText } from "../../testing/tape-files.ts";
import { bodyHash, digestOf, TapeDigest } from "./digest.ts";
import { loadTape } from "./read-tape.ts";
import type { TapeRecord } from "./tape.ts";

const HEADER = '{"type":"header","version":1,"harn_version":"0.8.0"}\n';
const sleep = (seq: number, more = "") =>
  `{"type":"record","seq":${seq},"phase":"user_script","virtual_time_ms":${1767225600000 + seq * 1000},` +
  `"monotonic_ms":${seq * 1000},"kind":{"kind":"clock_sleep","duration_ms":${(seq + 1) * 100}}${more}}\n`;
const THREE = HEADER + sleep(0) + sleep(1) + sleep(2);
const DIGEST_OF_THREE = "86e80c0b7efc15bd82981b71729510266b1821220c21b0e1b3fe560f5a1778cc";
const DIGEST_OF_NOTHING = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

const digest = async (text: string) => digestOf((await loadTape("t", fileOf(text))).records);

describe("the digest of a tape", () => {
  test("is the BLAKE3 of its records, each on a line of its own", async () => {
    expect(await digest(THREE)).toBe(DIGEST_OF_THREE);
    const hashed = (sleep(0) + sleep(1) + sleep(2)).replaceAll('"type":"record",', "");
    expect(await bodyHash(new TextEncoder().encode(hashed))).toBe(DIGEST_OF_THREE);
  });

  test("of no records is the digest of nothing", async () => {
    expect(await digest(HEADER)).toBe(DIGEST_OF_NOTHING);
    expect(await bodyHash(new Uint8Array())).toBe(DIGEST_OF_NOTHING);
  });

  test.each([
    ["white space", THREE.replaceAll(":", " : ").replaceAll(",", " ,\t")],
    ["CRLF", THREE.replaceAll("\n", "\r\n")],
    ["blank lines", THREE.replaceAll("\n", "\n\n \t\n")],
    ["no LF at the end", THREE.slice(0, -1)],
    ["unknown members", HEADER + sleep(0, ',"x":[1]') + sleep(1, ',"x":1,"x":2') + sleep(2)],
    ["unknown members of a kind", THREE.replaceAll('"duration_ms"', '"x":{},"duration_ms"')],
    [
      "another header",
      `{"harn_version":"9","argv":["a"],"type":"header","version":0}\n${sleep(0)}${sleep(1)}${sleep(2)}`,
    ],
    ["no phase", THREE.replaceAll('"phase":"user_script",', "")],
    ["another order of members", THREE.replaceAll(/"type":"record",("seq":\d),/g, '$1,"type":"record",')],
    ["escapes nobody needs", THREE.replaceAll("clock_sleep", "\\u0063lock_sleep")],
  ])("does not change with %s", async (_, text) => {
    expect(text).not.toBe(THREE);
    expect(await digest(text)).toBe(DIGEST_OF_THREE);
  });

  test.each([
    ["the order of records", HEADER + sleep(1) + sleep(0) + sleep(2)],
    ["a number", THREE.replace('"seq":2', '"seq":3')],
    ["a record less", HEADER + sleep(0) + sleep(1)],
    ["a phase", THREE.replace("user_script", "runtime_finalize")],
    ["a clock", THREE.replace('"monotonic_ms":0', '"monotonic_ms":1')],
    ["a duration", THREE.replace('"duration_ms":200', '"duration_ms":201')],
  ])("changes with %s", async (_, text) => {
    expect(await digest(text)).not.toBe(DIGEST_OF_THREE);
  });

  test("counts an unknown kind as that and no more", async () => {
    const unknown = await digest(THREE.replace(/\{"kind":"clock_sleep","duration_ms":300\}/, '{"kind":"unknown"}'));
    expect(await digest(THREE.replace('"kind":"clock_sleep","duration_ms":300', '"kind":"new","x":1'))).toBe(unknown);
    expect(await digest(THREE.replace('"kind":"clock_sleep","duration_ms":300', '"kind":"newer"'))).toBe(unknown);
    expect(unknown).not.toBe(DIGEST_OF_THREE);
  });

  test("counts a stored body by its hash and its length", async () => {
    const call = (response: { content_hash: string; len_bytes: bigint }) =>
      digest(tapeText(aTape({ kind: "llm_call", request_digest: "d", response })));
    const usual = await call({ content_hash: "h", len_bytes: 5n });
    expect(await call({ content_hash: "h", len_bytes: 5n })).toBe(usual);
    expect(await call({ content_hash: "i", len_bytes: 5n })).not.toBe(usual);
    expect(await call({ content_hash: "h", len_bytes: 6n })).not.toBe(usual);
  });

  test("loses nothing of a number beyond 2^53", async () => {
    const at = (seq: bigint): TapeRecord[] => [aRecord({ seq })];
    expect(await digestOf(at(9007199254740992n))).not.toBe(await digestOf(at(9007199254740993n)));
  });

  test("takes records of any length, each where it stands", async () => {
    const long = sleep(0)
      .replace("clock_sleep", "file_delete")
      .replace('"duration_ms":100', `"path":"${"é".repeat(50_000)}"`);
    const hashed = (sleep(0) + long + sleep(1)).replaceAll('"type":"record",', "");
    expect(await digest(HEADER + sleep(0) + long + sleep(1))).toBe(await bodyHash(new TextEncoder().encode(hashed)));
  });

  test("may be computed record by record, and many at a time", async () => {
    const { records } = await loadTape("t", fileOf(THREE));
    const [one, other] = [await TapeDigest.start(), await TapeDigest.start()];
    for (const record of records) {
      one.add(record);
      other.add(record);
    }
    expect([one.hex(), other.hex()]).toEqual([DIGEST_OF_THREE, DIGEST_OF_THREE]);
  });
});
