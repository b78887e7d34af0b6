import { scrubLine } from "../../formats/tapes/scrub.ts";
import { isContent } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { type FileLine, fileLines, fileText, type RowLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { trimSpace } from "../../formats/text/lines.ts";
import { AppError, type ErrorDetails } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import {
  MAX_ROW_CHARACTERS,
  MAX_SIDECAR_LINES,
  MAX_SIDECAR_ROWS,
  type PushSidecarRequest,
  type PushSidecarResponse,
} from "../../protocol/tapes/api.ts";
import { type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import { serializeFor } from "../shared/serialize.ts";
import { lineExcess } from "./line-limits.ts";
import { PushAnswer } from "./push-answer.ts";
import { planPush } from "./push-plan.ts";
import { unitsOf } from "./push-units.ts";
import { rowLinesInTurns, Turns } from "./turns.ts";

export interface PushSidecar {
  readonly caller: Caller;
  /** As the caller may see it. */
  readonly run: RunIdentity;
  readonly request: PushSidecarRequest;
  /** Throws unless the caller may bring what others said. */
  mayImport(): Promise<void>;
  readonly record: Recorder<PushSidecarResponse>;
}

/** The file as it will be stored, and what it says. */
export interface CleanSidecar extends RowLines {
  readonly text: string;
}

/** Others may push to the same run, or judge it, meanwhile; not for ever. */
const ATTEMPTS_MAX = 10;

/**
 * Makes judgments of the rows of a sidecar, and keeps the file. More rows than fit one commit take several, the file with the last:
 * a push that broke off is finished by pushing again, since what is here already is not written twice.
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
      // Somebody else was there first: the next look sees what they did.
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

/** Counted before the text is cut: a line takes many times its text in memory. */
function requireFewLines(text: string): void {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) {
    if (++lines > MAX_SIDECAR_LINES) throw sidecarRefused(`it has more than ${MAX_SIDECAR_LINES} lines`);
  }
}

/** Throws for a line that would hold up other requests. */
function requireModest({ text }: FileLine, line: number): void {
  const excess = text.length > MAX_ROW_CHARACTERS ? `is longer than ${MAX_ROW_CHARACTERS} characters` : tooDense(text);
  if (excess === undefined) return;
  const problem = `it ${excess}`;
  throw sidecarRefused(`line ${line}: ${problem}`, { problems: [{ line, problem }], count: 1 });
}

/** Comments are never parsed: they have no values. */
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
