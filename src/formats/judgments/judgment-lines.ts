import { AppError } from "../../protocol/errors.ts";
import { instantMs } from "../../protocol/instant.ts";
import type { AnnotationState } from "../../protocol/judgments/annotation.ts";
import type { AnnotationFilter } from "../../protocol/judgments/annotation-api.ts";
import {
  JUDGMENT_FORMAT,
  JUDGMENT_VERSION,
  Judgment,
  JudgmentEnd,
  JudgmentHeader,
} from "../../protocol/judgments/judgment-file.ts";
import { firstProblem, matches } from "../../protocol/schema.ts";
import { parsedJson, repeatedMember } from "../json/check-json.ts";

/** docs/formats/judgments.md describes the lines. */
export function headerLine(filter: AnnotationFilter): string {
  const asked = Object.keys(filter).length === 0 ? {} : { filter };
  return JSON.stringify({ type: "header", format: JUDGMENT_FORMAT, version: JUDGMENT_VERSION, ...asked });
}

export function judgmentLine(judgment: Judgment): string {
  return JSON.stringify({ type: "annotation", ...judgment });
}

export function endLine(count: number): string {
  return JSON.stringify({ type: "end", count });
}

/** A line between header and end: its judgment, or the reason why it is refused. */
export type JudgmentEntry =
  | { readonly line: number; readonly judgment: Judgment }
  | { readonly line: number; readonly problem: string };

/**
 * Reads the lines of an export one after the other. An invalid judgment is reported as an entry, and reading continues; a file that is not
 * an export, or is incomplete, is refused as a whole.
 */
export class JudgmentReader {
  #place: "header" | "judgments" | "end" = "header";
  #count = 0;

  /** The entry of a line, if it is one; throws for a line that is not allowed at its place. */
  take(value: unknown, line: number): JudgmentEntry | undefined {
    if (this.#place === "header") {
      checkHeader(value, line);
      this.#place = "judgments";
      return undefined;
    }
    if (this.#place === "end") throw incomplete(`line ${line} stands after the end`);
    if (matches(JudgmentEnd, value)) {
      if (value.count !== this.#count) {
        throw incomplete(`the end at line ${line} tells of ${value.count} judgments, and there are ${this.#count}`);
      }
      this.#place = "end";
      return undefined;
    }
    this.#count += 1;
    return entryOf(value, line);
  }

  /** Throws unless the end line was read. */
  finish(): void {
    if (this.#place === "header") throw unsupported(1, "it is empty");
    if (this.#place !== "end") throw incomplete(`it is cut after ${this.#count} judgments`);
  }
}

/** The entries of a whole file; empty lines are skipped. Throws where `JudgmentReader` does, at the latest after the last line. */
export async function* readJudgments(lines: AsyncIterable<string>): AsyncGenerator<JudgmentEntry> {
  const reader = new JudgmentReader();
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() === "") continue;
    // Undefined for text that is not JSON, which is refused in every place.
    const value = parsedJson(text);
    const entry = reader.take(value, line);
    const repeated = repeatedMember(text, value);
    if (repeated !== undefined && entry === undefined) throw unsupported(line, twice(repeated));
    if (entry !== undefined) yield repeated === undefined ? entry : { line, problem: twice(repeated) };
  }
  reader.finish();
}

function twice(name: string): string {
  return `it has the member ${JSON.stringify(name)} twice`;
}

function checkHeader(value: unknown, line: number): void {
  const { type, format, version } = (value ?? {}) as Record<string, unknown>;
  if (type !== "header" || format !== JUDGMENT_FORMAT) throw unsupported(line, "it is no header of one");
  if (version !== JUDGMENT_VERSION) {
    const given = typeof version === "number" ? `version ${version}` : "a version that is no number";
    throw unsupported(line, `it has ${given}, and this Assay reads version ${JUDGMENT_VERSION}`);
  }
  if (!matches(JudgmentHeader, value)) throw unsupported(line, firstProblem(JudgmentHeader, value, ""));
}

function unsupported(line: number, problem: string): AppError {
  return new AppError("judgment_format_unsupported", { line, problem });
}

function incomplete(problem: string): AppError {
  return new AppError("judgment_file_incomplete", { problem });
}

function entryOf(value: unknown, line: number): JudgmentEntry {
  if (value === undefined) return { line, problem: "it is not JSON" };
  const { type, ...rest } = (value ?? {}) as Record<string, unknown>;
  if (type !== "annotation") return { line, problem: 'it is no line of type "annotation"' };
  const judgment = Object.hasOwn(rest, "state") ? rest : { ...rest, state: stateBy(rest) };
  if (!matches(Judgment, judgment)) return { line, problem: firstProblem(Judgment, judgment, "") };
  const problem = contradictionIn(judgment);
  return problem === undefined ? { line, judgment } : { line, problem };
}

/** The state of a line without one, derived from its history. */
function stateBy({ retraction, supersededBy }: Readonly<Record<string, unknown>>): AnnotationState {
  if (retraction !== undefined) return "retracted";
  return supersededBy === undefined ? "live" : "superseded";
}

/** A contradiction between parts of a judgment that are each well formed. */
function contradictionIn(judgment: Judgment): string | undefined {
  const { signal, state, supersededBy, supersededAt, retraction, flag, actorKind, confidence } = judgment;
  if ((state === "superseded") !== (supersededBy !== undefined && supersededAt !== undefined)) {
    return "supersededBy and supersededAt go with the state superseded";
  }
  if ((supersededBy === undefined) !== (supersededAt === undefined)) return "supersededBy and supersededAt go together";
  if ((state === "retracted") !== (retraction !== undefined)) return "a retraction goes with the state retracted";
  if ((signal.kind === "flag") !== (flag !== undefined)) return "flag goes with a signal that is one";
  if (flag !== undefined && !isCoherent(flag)) return "closedBy, closedAt and note go with a flag that is closed";
  if (confidence !== undefined && actorKind !== "agent") return "only an agent's judgment carries a confidence";
  const times = { createdAt: judgment.createdAt, supersededAt, retractedAt: retraction?.at, closedAt: flag?.closedAt };
  const wrong = Object.entries(times).find(([, text]) => text !== undefined && instantMs(text) === undefined);
  return wrong === undefined ? undefined : `${wrong[0]} must be an instant like 2027-01-31T12:00:00Z`;
}

function isCoherent({ status, closedBy, closedAt, note }: NonNullable<Judgment["flag"]>): boolean {
  const given = [closedBy, closedAt, note].filter((part) => part !== undefined).length;
  return given === (status === "closed" ? 3 : 0);
}
