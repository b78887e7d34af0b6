/**
 * The entry point to tapes and their sidecars for pages, plug-ins and scripts: the operations of the commands without file access. A file
 * is its bytes, in pieces of any size, and a path that messages repeat; output is text, line by line. Nothing in here opens a file, reads
 * the time or needs Node. A file that cannot be loaded throws `FileError`.
 *
 * Integers are `bigint`, since numbers of events may be greater than a double holds, and free values are maps.
 */

export { readJson, Unreadable } from "../json/exact-json.ts";
export { type FreeForm, type FreeMap, freeForm, printFreeForm } from "../json/print-json.ts";
export { addTo } from "../text/collections.ts";
export { FileError, type FileErrorCode, type FileErrorPlace } from "../text/file-error.ts";
export type { Bytes } from "../text/lines.ts";
export { type Candidate, CandidateFinder, pickRecords } from "./candidates/candidates.ts";
export { EXAMPLES_MIN, rankSequences, SEQUENCE_MAX } from "./candidates/rank.ts";
export { Signatures, type Trace, TraceBuilder } from "./candidates/trace.ts";
export type { Divergence } from "./compare/compare-records.ts";
export { DivergenceRows, isOfRecording } from "./compare/compare-records.ts";
export {
  COMPARISON_MODES,
  type ComparisonMode,
  type ComparisonReport,
  compareTapes,
  messageOf,
  printComparison,
  type TapeFile,
} from "./compare/compare-tapes.ts";
export { bodyHash, digestOf, TapeDigest } from "./digest.ts";
export {
  EXPORT_FORMATS,
  type ExportChoice,
  type ExportFormat,
  exportChoice,
  exportedLine,
  type FrictionEvent,
  type FrictionSource,
  frictionOf,
  isSelected,
  printFrictionEvent,
} from "./export.ts";
export {
  GRADED_BY,
  GRADERS,
  type Grade,
  type GradedBy,
  type GradedFile,
  type GradedRow,
  type GradeFigures,
  type Grades,
  gradesOf,
  VerdictRows,
} from "./grade.ts";
export { type Presentation, presentationOf, type Step, Stops } from "./present.ts";
export {
  checkProcessTape,
  type EntryProblem,
  loadProcessTape,
  type ProcessCall,
  type ProcessEntry,
  ProcessReplay,
  printProcessTape,
} from "./process-tape.ts";
export { loadTape, readTape, tapeLines } from "./read-tape.ts";
export {
  annotatedEvents,
  blockLines,
  firstLine,
  type History,
  histories,
  type LineStyle,
  type RunBlock,
  type ShownEvent,
  type ShownRow,
  type Summary,
  type SummaryRow,
  shownEvent,
  shownRow,
  summarize,
  summaryRow,
} from "./show.ts";
export { Chains, CurrentRows, stretchOf } from "./sidecar/current-rows.ts";
export { freeId, isAdvisedStep, type NewRow, newRow, type RowDraft, replacing } from "./sidecar/new-row.ts";
export { loadSidecar, readSidecar, sidecarLines } from "./sidecar/read-sidecar.ts";
export {
  type Anchor,
  AUTHOR_KINDS,
  anchorOf,
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  nameOfRow,
  printAnchor,
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
export {
  type ContextPackSuggestion,
  generateContextPackSuggestions,
  printSuggestions,
  type SuggestOptions,
} from "./suggest/suggest.ts";
export {
  INLINE_BYTES_MAX,
  type InlinePayload,
  isBodyHash,
  isStored,
  type Payload,
  PHASES,
  printHashedRecord,
  printTapeHeader,
  printTapeRecord,
  RECORD_KINDS,
  type RecordKind,
  type RecordKindName,
  referencedBodies,
  type StoredPayload,
  TAPE_VERSION,
  type Tape,
  type TapeHeader,
  type TapeRecord,
} from "./tape.ts";
export { factsOf, readTapeFacts, type TapeFacts } from "./tape-facts.ts";
export {
  isLoadError,
  printGithub,
  printGithubError,
  printReport,
  printSarif,
  printSarifError,
} from "./validate/print-findings.ts";
export { explainProblem, type Finding, PROBLEM_CODES, type Problem, type ProblemCode } from "./validate/problems.ts";
export { type Verdict, validate, validateSidecar } from "./validate/validate.ts";
