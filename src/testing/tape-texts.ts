import { BodyHasher } from "../formats/tapes/digest.ts";
import { printTapeHeader, printTapeRecord, type RecordKind, type TapeRecord } from "../formats/tapes/tape.ts";

const hasher = await BodyHasher.start();

/** A text as a body beside a tape. */
export function bodyOf(text: string): { text: string; hash: string; base64: string } {
  return { text, hash: hasher.hash(text), base64: Buffer.from(text).toString("base64") };
}

const HEADER = {
  version: 1n,
  harn_version: "0.9.0",
  started_at_unix_ms: null,
  script_path: "night.harn",
  argv: ["--fast"],
};

export interface TapeText {
  /** What the model answers. */
  readonly greeting?: string;
  /** Texts that stand beside the tape. */
  readonly bodies?: readonly string[];
}

/** The text of a tape as a writer makes it: numbers that no double holds, bodies in it and beside it. */
export function tapeText({ greeting = "hello", bodies = ["stored"] }: TapeText = {}): string {
  const { hash: request_digest } = bodyOf("request");
  const kinds: RecordKind[] = [
    { kind: "clock_read", source: "wall", value_ms: -9223372036854775808n },
    { kind: "clock_sleep", duration_ms: 9007199254740993n },
    { kind: "llm_call", request_digest, response: { content_hash: bodyOf(greeting).hash, text: greeting } },
    ...bodies.map((text): RecordKind => {
      const response = { content_hash: bodyOf(text).hash, len_bytes: BigInt(Buffer.byteLength(text)) };
      return { kind: "llm_call", request_digest, response };
    }),
    { kind: "unknown" },
  ];
  const records = kinds.map(
    (kind, i): TapeRecord => ({
      seq: i === 1 ? 18446744073709551615n : BigInt(i),
      phase: kind.kind === "unknown" ? "runtime_finalize" : "user_script",
      virtual_time_ms: 1767225600000n + BigInt(i),
      monotonic_ms: BigInt(i),
      kind,
    }),
  );
  return [printTapeHeader(HEADER), ...records.map(printTapeRecord)].map((line) => `${line}\n`).join("");
}
