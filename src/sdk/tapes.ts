/**
 * What `@assay/sdk/tapes` exports: a recorded run and the judgments beside it, from bytes to bytes. Nothing in here opens a file, so it
 * also runs in pages.
 */
export { openTape } from "./annotated-tape.ts";
export {
  type AnnotatedTape,
  type Author,
  type Integer,
  type JudgmentKind,
  type JudgmentLink,
  type NewJudgment,
  type Replacement,
  TapeError,
  type TapeEvent,
  type TapeFiles,
  type TapeFinding,
  type TapeJudgment,
  type TapeValue,
} from "./tape-view.ts";
