import { scrubLine } from "../../formats/tapes/scrub.ts";
import { isContent } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { type FileLine, fileLines, fileText, type RowLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { trimSpace } from "../../formats/text/lines.ts";
import { AppError, type ErrorDetails } from "../../protocol/errors.ts";
import {
  MAX_ROW_CHARACTERS,
  MAX_SIDECAR_LINES,
  MAX_SIDECAR_ROWS,
  type PushSidecarRequest,
  type PushSidecarResponse,
} from "../../protocol/tapes/api.ts";
import { type ApiRequest, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import { serializeFor } from "../shared/serialize.ts";
import { planPush } from "./push-plan.ts";
import { PushAnswer, unitsOf } from "./push-units.ts";
import { lineExcess, rowLinesInTurns, Turns } from "./tape-lines.ts";

export interface PushSidecar extends ApiRequest<PushSidecarRequest, PushSidecarResponse> {
  /** The run, which the caller can see. */
  readonly run: RunIdentity;
  /** Throws unless the caller may push judgments of others. */
  mayImport(): Promise<void>;
}

/** The file as it will be stored, with its rows. */
export interface CleanSidecar extends RowLines {
  readonly text: string;
}

/** Attempts in case the run is judged, or pushed to, meanwhile. */
const ATTEMPTS_MAX = 10;

/**
 * Makes judgments of the rows of a sidecar, and stores the file. Many rows take several commits, with the file in the last. An interrupted push is
 * finished by pushing again: stored judgments are not written twice.
 */
export async function pushSidecar(host: Host, push: PushSidecar): Promise<PushSidecarResponse> {
  requireFewLines(push.request.sidecar);
  const { text: sidecar, lines, scrubbed } = await scrubbedText(push.request.sidecar, host.scrubber.scrubText);
  const clean = { text: sidecar, ...(await rowsOf(lines)) };
  const answer = new PushAnswer(scrubbed, push.request.dryRun === true);
  return serializeFor(host.store, `sidecar of ${push.run.runId}`, async () => {
    for (let attempt = 1; ; attempt++) {
      const plan = await planPush(host, push, clean);
      answer.plan(plan);
      if (push.request.dryRun) return answer.response();
      const refusal = await commitAll();
      if (refusal === undefined) return answer.response();
      // The judgments were changed meanwhile: the next attempt reads them again.
      const moved = refusal.type === "annotation" || refusal.type === "tape";
      if (!moved || attempt === ATTEMPTS_MAX) throw refused(refusal);

      async function commitAll() {
        for (const unit of unitsOf(host, push, plan, () => push.record(answer.response()))) {
          const committed = await host.store.commit(unit.unit);
          if (!committed.ok) return committed.refusal;
          answer.done(unit.changes);
        }
        return undefined;
      }
    }
  });
}

/** Refuses a text with too many lines before it is split: a line takes many times its text in memory. */
function requireFewLines(text: string): void {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) {
    if (++lines > MAX_SIDECAR_LINES) throw sidecarRefused(`it has more than ${MAX_SIDECAR_LINES} lines`);
  }
}

/** Throws for a line that would block other requests. */
function requireModest({ text }: FileLine, line: number): void {
  const excess = text.length > MAX_ROW_CHARACTERS ? `is longer than ${MAX_ROW_CHARACTERS} characters` : tooDense(text);
  if (excess === undefined) return;
  const problem = `it ${excess}`;
  throw sidecarRefused(`line ${line}: ${problem}`, { problems: [{ line, problem }], count: 1 });
}

/** The excess of a line with too many values. Comments are not parsed and have none. */
function tooDense(text: string): string | undefined {
  const excess = lineExcess(text);
  return excess !== undefined && isContent(trimSpace(text)) ? excess : undefined;
}

function sidecarRefused(problem: string, more: ErrorDetails = {}): AppError {
  return new AppError("sidecar_refused", { problem, ...more });
}

async function scrubbedText(text: string, scrub: (text: string) => string) {
  let scrubbed = 0;
  const lines: FileLine[] = [];
  const turns = new Turns();
  for (const line of fileLines(text)) {
    requireModest(line, lines.length + 1);
    const clean = scrubLine(line.text, scrub);
    if (clean !== line.text) scrubbed++;
    lines.push({ ...line, text: clean });
    await turns.after(line.text.length);
  }
  return { text: scrubbed === 0 ? text : fileText(lines), lines, scrubbed };
}

async function rowsOf(lines: readonly FileLine[]): Promise<RowLines> {
  let read: RowLines;
  try {
    read = await rowLinesInTurns(lines);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new AppError("sidecar_unreadable", { message: error.message, code: error.code, ...error.place });
  }
  const { length } = read.rows;
  if (length <= MAX_SIDECAR_ROWS) return read;
  throw sidecarRefused(`it has ${length} rows, and ${MAX_SIDECAR_ROWS} are taken at once`);
}
