/**
 * The one door to tapes and their sidecars, for whoever has them in a page, a plug-in or a script: what the commands do with files,
 * without the files. A file is its bytes, in pieces of any size, and a path that messages repeat; what is written comes as text, line by
 * line. Nothing in here opens anything, asks for the time or needs Node. What cannot be loaded throws `FileError`.
 *
 * Integers are `bigint`, since numbers of events may be greater than a double holds, and free values are maps.
 */

export { FileError, type FileErrorCode, type FileErrorPlace } from "./file-error.ts";
export { addTo } from "./groups.ts";
export { readJson, Unreadable } from "./json/exact-json.ts";
export { type FreeForm, type FreeMap, freeForm, printFreeForm } from "./json/print-json.ts";
export type { Bytes } from "./load-lines.ts";
export { type Anchor, anchorOf, printAnchor } from "./sidecar/anchors.ts";
export { freeId, type NewRow, newRow, type RowDraft } from "./sidecar/append-row.ts";
export { Chains } from "./sidecar/chains.ts";
export { explainProblem } from "./sidecar/explain-problem.ts";
export {
  EXPORT_FORMATS,
  type ExportChoice,
  type ExportFormat,
  exportChoice,
  exportedLine,
  isSelected,
} from "./sidecar/export.ts";
export { type FrictionEvent, type FrictionSource, frictionOf, printFrictionEvent } from "./sidecar/friction.ts";
export {
  GRADED_BY,
  type Grade,
  type GradedBy,
  type GradedFile,
  type GradedRow,
  type GradeFigures,
  type Grades,
  gradesOf,
  VerdictRows,
} from "./sidecar/grade.ts";
export { type Presentation, presentationOf, type Step, Stops } from "./sidecar/present.ts";
export { type Finding, PROBLEM_CODES, type Problem, type ProblemCode } from "./sidecar/problem.ts";
export { loadSidecar, readSidecar, sidecarLines } from "./sidecar/read-sidecar.ts";
export {
  blockLines,
  firstLine,
  type Look,
  type RunBlock,
  type ShownEvent,
  type ShownRow,
  shownEvent,
  shownRow,
} from "./sidecar/render.ts";
export { type History, histories } from "./sidecar/render-history.ts";
export { type Summary, summarize, type ToldRow, toldRow } from "./sidecar/render-summary.ts";
export {
  AUTHOR_KINDS,
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  nameOfRow,
  printExportedRow,
  printRow,
  printSidecarHeader,
  ROW_KINDS,
  type Row,
  type RowKind,
  SIDECAR_VERSION,
  type Sidecar,
  type SidecarHeader,
} from "./sidecar/sidecar.ts";
export { StandingRows } from "./sidecar/standing-rows.ts";
export { isAdvisedStep, replacing } from "./sidecar/status-change.ts";
export {
  type ContextPackSuggestion,
  generateContextPackSuggestions,
  printSuggestions,
  type SuggestOptions,
} from "./sidecar/suggest.ts";
export { type Verdict, validate } from "./sidecar/validate.ts";
export { validateSidecar } from "./sidecar/validate-file.ts";
export { printReport } from "./sidecar/validate-report.ts";
export { isLoadError } from "./sidecar/validate-sarif.ts";
export { isBodyHash, referencedBodies } from "./tape/bodies.ts";
export { type Candidate, CandidateFinder } from "./tape/candidates.ts";
export { pickRecords } from "./tape/candidates-pick.ts";
export { EXAMPLES_MIN, rankSequences, SEQUENCE_MAX } from "./tape/candidates-rank.ts";
export { Signatures, type Trace, TraceBuilder } from "./tape/candidates-trace.ts";
export type { Divergence } from "./tape/compare-records.ts";
export { DivergenceRows, isOfRecording } from "./tape/compare-rows.ts";
export { compareTapes, type TapeFile } from "./tape/compare-side-by-side.ts";
export {
  COMPARISON_MODES,
  type ComparisonMode,
  type ComparisonReport,
  messageOf,
  printComparison,
} from "./tape/compare-tapes.ts";
export { bodyHash, digestOf, TapeDigest } from "./tape/digest.ts";
export { INLINE_BYTES_MAX, type InlinePayload, isStored, type Payload, type StoredPayload } from "./tape/payload.ts";
export {
  checkProcessTape,
  type EntryProblem,
  loadProcessTape,
  type ProcessEntry,
  printProcessTape,
} from "./tape/process-tape.ts";
export { type ProcessCall, ProcessReplay } from "./tape/process-tape-replay.ts";
export { loadTape, readTape, tapeLines } from "./tape/read-tape.ts";
export {
  PHASES,
  printTapeHeader,
  printTapeRecord,
  RECORD_KINDS,
  type RecordKind,
  type RecordKindName,
  TAPE_VERSION,
  type Tape,
  type TapeHeader,
  type TapeRecord,
} from "./tape/tape.ts";
export { factsOf, readTapeFacts, type TapeFacts } from "./tape/tape-facts.ts";
