import { i32, i64, text, u64 } from "../json/codec.ts";
import { bytesOf, COMMA, safeInteger, skimDigits, skimNull, skimWord } from "../json/skim-json.ts";
import { skimPrintedString, UNSURE } from "../json/skim-string.ts";
import { clockSource, maybeText, payload, RECORD_KINDS, texts } from "./tape.ts";

/** Walks over one part of a printed record; see `skim-string.ts`. */
type Step = (bytes: Uint8Array, at: number) => number;

const ZERO = 0x30;
const MINUS = 0x2d;
const CLOSE_BRACKET = 0x5d;

const skimText: Step = skimPrintedString;
/** Limits are one digit below the greatest number of the type; longer numbers are left to the exact reader. */
const skimU64 = integer(19, false);
const skimI64 = integer(18, true);

function integer(digitsMax: number, isSigned: boolean): Step {
  return (bytes, at) => {
    const start = isSigned && bytes[at] === MINUS ? at + 1 : at;
    const end = skimDigits(bytes, start);
    if (end === start || end - start > digitsMax) return UNSURE;
    // A writer prints neither 01 nor -0.
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

function firstOf(steps: readonly Step[]): Step {
  return (bytes, at) => {
    for (const step of steps) {
      const end = step(bytes, at);
      if (end !== UNSURE) return end;
    }
    return UNSURE;
  };
}

const openBracket = literal("[");

const skimTexts: Step = (bytes, at) => {
  let here = openBracket(bytes, at);
  if (here === UNSURE) return UNSURE;
  if (bytes[here] === CLOSE_BRACKET) return here + 1;
  for (;;) {
    here = skimText(bytes, here);
    if (here === UNSURE) return UNSURE;
    if (bytes[here] === CLOSE_BRACKET) return here + 1;
    if (bytes[here] !== COMMA) return UNSURE;
    here++;
  }
};

/** For each codec of the kinds, the step over what it prints. */
const STEPS: ReadonlyMap<unknown, Step> = new Map<unknown, Step>([
  [text, skimText],
  [maybeText, firstOf([skimNull, skimText])],
  [texts, skimTexts],
  [u64, skimU64],
  [i64, skimI64],
  [i32, integer(9, true)],
  [clockSource, firstOf([literal('"wall"'), literal('"monotonic"')])],
  [
    payload,
    inOrder(
      literal('{"content_hash":'),
      skimText,
      firstOf([inOrder(literal(',"text":'), skimText), inOrder(literal(',"len_bytes":'), skimU64)]),
      literal("}"),
    ),
  ],
]);

const kinds = Object.entries(RECORD_KINDS).map(([word, members]) => {
  const steps = Object.entries(members).map(([name, codec]) => {
    const step = STEPS.get(codec);
    if (step === undefined) throw new Error(`no step over the member ${name} of ${word}`);
    return inOrder(literal(`,"${name}":`), step);
  });
  return inOrder(literal(`"${word}"`), ...steps);
});

const beforeSeq = literal('{"type":"record","seq":');
const safeSeq = integer(15, false);
const behindSeq = inOrder(
  literal(',"phase":'),
  firstOf([literal('"user_script"'), literal('"runtime_finalize"')]),
  literal(',"virtual_time_ms":'),
  skimI64,
  literal(',"monotonic_ms":'),
  skimI64,
  literal(',"kind":{"kind":'),
  firstOf([literal('"unknown"'), ...kinds]),
  literal("}}"),
);

/** Where the hashed part of a printed record begins, without its opening brace. */
export const HASHED_FROM = '{"type":"record",'.length;

/**
 * Walks over a record that is in the file byte for byte as a writer prints it, so that the part that its digest covers need not be
 * printed again, and notes its number. Every other line is left to the exact reader.
 */
export function skimRecord(into: { seq: number }, bytes: Uint8Array, at: number): number {
  const start = beforeSeq(bytes, at);
  if (start === UNSURE) return UNSURE;
  const end = safeSeq(bytes, start);
  if (end === UNSURE) return UNSURE;
  into.seq = safeInteger(bytes, start, end);
  return behindSeq(bytes, end);
}
