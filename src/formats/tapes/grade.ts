import { type Interval, wilson } from "../../statistics/wilson.ts";
import { compareUtf8 } from "../json/print-json.ts";
import { addTo } from "../text/collections.ts";
import { trimSpace } from "../text/lines.ts";
import { CurrentRows } from "./sidecar/current-rows.ts";
import { type AUTHOR_KINDS, nameOfRow, type Row } from "./sidecar/sidecar.ts";

export const GRADED_BY = ["persona", "tape", "author"] as const;
export type GradedBy = (typeof GRADED_BY)[number];

/** A row that grades an event as correct or incorrect. */
export interface GradedRow {
  readonly row: Verdict;
  readonly file: GradedFile;
  readonly muted: boolean;
}

/** The members of such a row that are kept. */
export interface Verdict extends Pick<Row, "id" | "event_id" | "kind" | "span" | "author"> {
  readonly persona: string | null;
}

export interface GradedFile {
  /** The path of the sidecar, as given. */
  readonly path: string;
  readonly tape: string;
  /** The persona of the tape, unless a row names another; null when neither does. */
  readonly persona: string | null;
}

/** Counts of events, not of rows: two rows that agree on an event count once. */
export interface GradeFigures {
  readonly correct: number;
  readonly incorrect: number;
  /** Graded both ways; counted neither as correct nor as incorrect. */
  readonly disputed: number;
  /** Graded, but muted; in no other count. */
  readonly muted: number;
  /** The share of correct events among those that were graded one way; null when there are none. */
  readonly rate: number | null;
  /** The 95 % interval of the rate. */
  readonly interval: Interval | null;
  /** The number of rows that count. */
  readonly judgments: number;
}

export type AuthorKind = (typeof AUTHOR_KINDS)[number] | "unstated";
export const GRADERS: readonly AuthorKind[] = ["human", "agent", "system", "unstated"];

export interface Dispute {
  readonly path: string;
  readonly eventId: bigint;
  /** The names of the rows. */
  readonly correct: readonly string[];
  readonly incorrect: readonly string[];
}

export interface Grade extends GradeFigures {
  /** The persona, tape or author; null for rows without one. */
  readonly of: string | null;
  /** The same figures from the rows of each kind of author alone; only kinds that have rows. */
  readonly byAuthorKind: Readonly<Partial<Record<AuthorKind, GradeFigures>>>;
  readonly disputes: readonly Dispute[];
  readonly mutedEvents: readonly { readonly path: string; readonly eventId: bigint }[];
}

export interface Grades {
  readonly total: Grade;
  readonly groups: readonly Grade[];
}

/** Takes the rows of a sidecar, in order; which of them are valid verdicts is known after the last. */
export class VerdictRows {
  readonly #rows = new CurrentRows(["correct", "incorrect"], verdictOf);

  add(row: Row): void {
    this.#rows.add(row);
  }

  verdicts(file: GradedFile): GradedRow[] {
    const { heard, muted } = this.#rows.split();
    return [...heard.map((row) => ({ row, file, muted: false })), ...muted.map((row) => ({ row, file, muted: true }))];
  }
}

/** Groups in the order of their names, with the group without a name last. */
export function gradesOf(verdicts: readonly GradedRow[], by: GradedBy): Grades {
  const groups = new Map<string | null, GradedRow[]>();
  for (const verdict of verdicts) addTo(groups, OF[by](verdict), verdict);
  return {
    total: gradeOf(null, verdicts),
    groups: [...groups]
      .sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : compareUtf8(a, b)))
      .map(([name, group]) => gradeOf(name, group)),
  };
}

const OF: Readonly<Record<GradedBy, (verdict: GradedRow) => string | null>> = {
  persona: ({ row, file }) => row.persona ?? file.persona,
  tape: ({ file }) => file.tape,
  author: ({ row }) => row.author?.id ?? null,
};

function verdictOf({ id, event_id, kind, span, author, metadata }: Row): Verdict {
  const persona = metadata.get("persona");
  const isNamed = typeof persona === "string" && trimSpace(persona) !== "";
  return { id, event_id, kind, span, author, persona: isNamed ? persona : null };
}

function gradeOf(of: string | null, verdicts: readonly GradedRow[]): Grade {
  const byKind = new Map<AuthorKind, GradedRow[]>();
  for (const verdict of verdicts) addTo(byKind, verdict.row.author?.kind ?? "unstated", verdict);
  const events = eventsOf(verdicts);
  return {
    of,
    ...figuresOf(events),
    byAuthorKind: Object.fromEntries(
      GRADERS.flatMap((kind) => {
        const own = byKind.get(kind);
        return own === undefined ? [] : [[kind, figuresOf(eventsOf(own))]];
      }),
    ),
    disputes: events.filter(isDisputed).map(disputeOf),
    mutedEvents: events.filter(({ muted }) => muted).map(({ path, eventId }) => ({ path, eventId })),
  };
}

interface JudgedEvent {
  readonly path: string;
  readonly eventId: bigint;
  readonly muted: boolean;
  readonly correct: Verdict[];
  readonly incorrect: Verdict[];
}

/** In the order of files and of their first verdict. */
function eventsOf(verdicts: readonly GradedRow[]): JudgedEvent[] {
  const files = new Map<GradedFile, Map<bigint, JudgedEvent>>();
  for (const { row, file, muted } of verdicts) {
    const events = files.get(file) ?? new Map<bigint, JudgedEvent>();
    const { event_id: eventId } = row;
    const event = events.get(eventId) ?? { path: file.path, eventId, muted, correct: [], incorrect: [] };
    (row.kind === "correct" ? event.correct : event.incorrect).push(row);
    files.set(file, events.set(eventId, event));
  }
  return [...files.values()].flatMap((events) => [...events.values()]);
}

function figuresOf(events: readonly JudgedEvent[]): GradeFigures {
  const heard = events.filter(({ muted }) => !muted);
  const correct = heard.filter((event) => event.incorrect.length === 0).length;
  const incorrect = heard.filter((event) => event.correct.length === 0).length;
  const decided = correct + incorrect;
  return {
    correct,
    incorrect,
    disputed: heard.length - decided,
    muted: events.length - heard.length,
    rate: decided === 0 ? null : correct / decided,
    interval: wilson(correct, decided),
    judgments: heard.reduce((sum, event) => sum + event.correct.length + event.incorrect.length, 0),
  };
}

function isDisputed({ muted, correct, incorrect }: JudgedEvent): boolean {
  return !muted && correct.length > 0 && incorrect.length > 0;
}

function disputeOf({ path, eventId, correct, incorrect }: JudgedEvent): Dispute {
  return { path, eventId, correct: correct.map(nameOfRow), incorrect: incorrect.map(nameOfRow) };
}
