/**
 * The entry point to tapes and their sidecars for pages, plug-ins and scripts: what the commands do with files, without file
 * access. A file is its bytes, in pieces of any size, and a path that messages repeat; what is written comes as text, line by
 * line. Nothing in here opens anything, asks for the time or needs Node. What cannot be loaded throws `FileError`.
 *
 * Integers are `bigint`, since numbers of events may be greater than a double holds, and free values are maps.
 */

export { readJson, Unreadable } from "../json/exact-json.ts";
export { type FreeForm, type FreeMap, freeForm, printFreeForm } from "../json/print-json.ts";
export { FileError, type FileErrorCode, type FileErrorPlace } from "../text/file-error.ts";
export { addTo } from "../text/groups.ts";
export type { Bytes } from "../text/load-lines.ts";
export { isBodyHash, referencedBodies } from "./bodies.ts";
export { type Candidate, CandidateFinder } from "./candidates/candidates.ts";
export { pickRecords } from "./candidates/pick.ts";
export { EXAMPLES_MIN, rankSequences, SEQUENCE_MAX } from "./candidates/rank.ts";
export { Signatures, type Trace, TraceBuilder } from "./candidates/trace.ts";
export type { Divergence } from "./compare/compare-records.ts";
export { DivergenceRows, isOfRecording } from "./compare/compare-rows.ts";
export { compareTapes, type TapeFile } from "./compare/compare-side-by-side.ts";
export {
  COMPARISON_MODES,
  type ComparisonMode,
  type ComparisonReport,
  messageOf,
  printComparison,
} from "./compare/compare-tapes.ts";
export { bodyHash, digestOf, TapeDigest } from "./digest.ts";
export { INLINE_BYTES_MAX, type InlinePayload, isStored, type Payload, type StoredPayload } from "./payload.ts";
export {
  EXPORT_FORMATS,
  type ExportChoice,
  type ExportFormat,
  exportChoice,
  exportedLine,
  isSelected,
} from "./present/export.ts";
export { type FrictionEvent, type FrictionSource, frictionOf, printFrictionEvent } from "./present/friction.ts";
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
} from "./present/grade.ts";
export { type Presentation, presentationOf, type Step, Stops } from "./present/present.ts";
export {
  blockLines,
  firstLine,
  type LineStyle,
  type RunBlock,
  type ShownEvent,
  type ShownRow,
  shownEvent,
  shownRow,
} from "./present/render.ts";
export { type History, histories } from "./present/render-history.ts";
export { type Summary, type SummaryRow, summarize, summaryRow } from "./present/render-summary.ts";
export {
  checkProcessTape,
  type EntryProblem,
  loadProcessTape,
  type ProcessEntry,
  printProcessTape,
} from "./process-tape.ts";
export { type ProcessCall, ProcessReplay } from "./process-tape-replay.ts";
export { loadTape, readTape, tapeLines } from "./read-tape.ts";
export { type Anchor, anchorOf, printAnchor } from "./sidecar/anchors.ts";
export { freeId, type NewRow, newRow, type RowDraft } from "./sidecar/append-row.ts";
export { Chains } from "./sidecar/chains.ts";
export { CurrentRows } from "./sidecar/current-rows.ts";
export { type Finding, PROBLEM_CODES, type Problem, type ProblemCode } from "./sidecar/problem.ts";
export { loadSidecar, readSidecar, sidecarLines } from "./sidecar/read-sidecar.ts";
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
export { isAdvisedStep, replacing } from "./sidecar/status-change.ts";
export {
  type ContextPackSuggestion,
  generateContextPackSuggestions,
  printSuggestions,
  type SuggestOptions,
} from "./sidecar/suggest.ts";
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
} from "./tape.ts";
export { factsOf, readTapeFacts, type TapeFacts } from "./tape-facts.ts";
export { explainProblem } from "./validate/explain-problem.ts";
export { type Verdict, validate } from "./validate/validate.ts";
export { validateSidecar } from "./validate/validate-file.ts";
export { printReport } from "./validate/validate-report.ts";
export { isLoadError } from "./validate/validate-sarif.ts";
