import { bytesOf, COMMA, safeInteger, skimDigits, skimNull, skimWord } from "../json/skim-json.ts";
import { skimPrintedString, UNSURE } from "../json/skim-string.ts";
import { RECORD_KINDS, type RecordKindName } from "./tape.ts";

/** Walks over one thing that stands in a printed record, and nothing else. */
type Step = (bytes: Uint8Array, at: number) => number;

const ZERO = 0x30;
const MINUS = 0x2d;
const CLOSE_BRACKET = 0x5d;

const text: Step = skimPrintedString;
/** Of fewer digits than the greatest has; those of as many are left to the exact reader. */
const u64 = integer(19, false);
const i64 = integer(18, true);
const i32 = integer(9, true);

function integer(digitsMax: number, isSigned: boolean): Step {
  return (bytes, at) => {
    const start = isSigned && bytes[at] === MINUS ? at + 1 : at;
    const end = skimDigits(bytes, start);
    if (end === start || end - start > digitsMax) return UNSURE;
    // Neither 01 nor -0 is how a writer prints an integer.
    return bytes[start] === ZERO && (end > start + 1 || start > at) ? UNSURE : end;
  };
}

function inOrder(...steps: readonly Step[]): Step {
  return (bytes, at) => {
    let here = at;
    for (const step of steps) {
      here = step(bytes, here);
      if (here === UNSURE) return UNSURE;
    }
    return here;
  };
}

function literal(printed: string): Step {
  const wanted = bytesOf(printed);
  return (bytes, at) => skimWord(bytes, at, wanted);
}

function either(one: Step, other: Step): Step {
  return (bytes, at) => {
    const end = one(bytes, at);
    return end === UNSURE ? other(bytes, at) : end;
  };
}

const textList: Step = (bytes, at) => {
  let here = skimWord(bytes, at, OPEN_BRACKET);
  if (here === UNSURE) return UNSURE;
  if (bytes[here] === CLOSE_BRACKET) return here + 1;
  for (;;) {
    here = text(bytes, here);
    if (here === UNSURE) return UNSURE;
    if (bytes[here] === CLOSE_BRACKET) return here + 1;
    if (bytes[here] !== COMMA) return UNSURE;
    here++;
  }
};
const OPEN_BRACKET = bytesOf("[");

const payload = inOrder(
  literal('{"content_hash":'),
  text,
  either(inOrder(literal(',"text":'), text), inOrder(literal(',"len_bytes":'), u64)),
  literal("}"),
);

/** The members of every kind as they are printed, in the order of the table they are read by. */
const KINDS: { readonly [K in RecordKindName]: Readonly<Record<keyof (typeof RECORD_KINDS)[K], Step>> } = {
  clock_read: { source: either(literal('"wall"'), literal('"monotonic"')), value_ms: i64 },
  clock_sleep: { duration_ms: u64 },
  llm_call: { request_digest: text, response: payload },
  decision_evaluation: { request_digest: text, response: payload },
  file_read: { path: text, content_hash: text, len_bytes: u64 },
  file_write: { path: text, content_hash: text, len_bytes: u64 },
  file_delete: { path: text },
  process_spawn: {
    program: text,
    args: textList,
    cwd: either(skimNull, text),
    exit_code: i32,
    duration_ms: u64,
    stdout_payload: payload,
    stderr_payload: payload,
  },
  mcp_json_rpc: {
    server: text,
    method: text,
    request_digest: text,
    response_digest: text,
    latency_ms: u64,
    request_payload: payload,
    response_payload: payload,
  },
  model_job: {
    job_id: text,
    request_id: text,
    backend: text,
    state: text,
    event_kind: text,
    event: payload,
    asset_digests: textList,
  },
};

const words = Object.keys(RECORD_KINDS) as RecordKindName[];
const kinds = [
  literal('"unknown"'),
  ...words.map((word) => {
    const steps = KINDS[word] as Readonly<Record<string, Step>>;
    const members = Object.keys(RECORD_KINDS[word]).map((name) => inOrder(literal(`,"${name}":`), steps[name] as Step));
    return inOrder(literal(`"${word}"`), ...members);
  }),
];

const beforeSeq = literal('{"type":"record","seq":');
const safeSeq = integer(15, false);
const behindSeq = inOrder(
  literal(',"phase":'),
  either(literal('"user_script"'), literal('"runtime_finalize"')),
  literal(',"virtual_time_ms":'),
  i64,
  literal(',"monotonic_ms":'),
  i64,
  literal(',"kind":{"kind":'),
  (bytes, at) => {
    for (const kind of kinds) {
      const end = kind(bytes, at);
      if (end !== UNSURE) return end;
    }
    return UNSURE;
  },
  literal("}}"),
);

/** Where the part of a printed record begins that its digest covers, but for the brace. */
export const HASHED_FROM = '{"type":"record",'.length;

/**
 * Walks over a record that stands there byte for byte as a writer prints it, so that what its digest covers need not be printed again. Notes its
 * number. Whatever else a line holds, the exact reader has to say.
 */
export function skimRecord(into: { seq: number }, bytes: Uint8Array, at: number): number {
  const start = beforeSeq(bytes, at);
  if (start === UNSURE) return UNSURE;
  const end = safeSeq(bytes, start);
  if (end === UNSURE) return UNSURE;
  into.seq = safeInteger(bytes, start, end);
  return behindSeq(bytes, end);
}
