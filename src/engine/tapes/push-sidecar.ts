import { FileError } from "../../formats/file-error.ts";
import { type FileLine, fileLines, fileText } from "../../formats/sidecar/file-lines.ts";
import type { RowLines } from "../../formats/sidecar/row-key.ts";
import { scrubLine } from "../../formats/sidecar/scrub-line.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity.ts";
import { MAX_SIDECAR_ROWS, type PushSidecarRequest, type PushSidecarResponse } from "../../protocol/sidecar-api.ts";
import { type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { inLineFor } from "../in-line.ts";
import type { RunIdentity } from "../run-identity.ts";
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
  const { text: sidecar, scrubbed } = await scrubbedText(push.request.sidecar, host.scrubber.scrubText);
  const clean = { text: sidecar, ...(await rowsOf(sidecar)) };
  const answer = new PushAnswer(scrubbed, push.request.dryRun === true);
  return inLineFor(host.store, `sidecar of ${push.run.runId}`, async () => {
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

async function scrubbedText(text: string, scrub: (text: string) => string) {
  let scrubbed = 0;
  const lines: FileLine[] = [];
  const turns = new Turns();
  for (const line of fileLines(text)) {
    const clean = scrubLine(line.text, scrub);
    if (clean !== line.text) scrubbed++;
    lines.push({ ...line, text: clean });
    await turns.after(line.text.length);
  }
  return { text: scrubbed === 0 ? text : fileText(lines), scrubbed };
}

async function rowsOf(text: string): Promise<RowLines> {
  let read: RowLines;
  try {
    read = await rowLinesInTurns(fileLines(text));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new AppError("sidecar_unreadable", { message: error.message, code: error.code, ...error.place });
  }
  const { length } = read.rows;
  if (length <= MAX_SIDECAR_ROWS) return read;
  throw new AppError("sidecar_refused", {
    problem: `it has ${length} rows, and ${MAX_SIDECAR_ROWS} are taken at once`,
  });
}
