/** A number, or a bigint where a number cannot hold it. */
export type Integer = number | bigint;

/** A value of JSON, exact. */
export type TapeValue =
  | null
  | boolean
  | string
  | Integer
  | readonly TapeValue[]
  | { readonly [name: string]: TapeValue };

export type JudgmentKind =
  | "correct"
  | "incorrect"
  | "alternative"
  | "note"
  | "marker"
  | "mute"
  | "hypothesis"
  | "friction"
  | "crystallize_here";

/** What a tape recorded. `members` are those of its kind, under the names of the file. */
export interface TapeEvent {
  readonly seq: Integer;
  readonly phase: string;
  readonly virtualTimeMs: Integer;
  readonly monotonicMs: Integer;
  /** `unknown` for a kind that is not known here. */
  readonly kind: string;
  readonly members: { readonly [name: string]: TapeValue };
}

export interface Author {
  readonly id: string | null;
  readonly kind: "human" | "agent" | "system";
  /** Where it was written: `ide`, `ci`. */
  readonly surface?: string | null;
}

export interface JudgmentLink {
  readonly label?: string | null;
  readonly url?: string | null;
  readonly reference?: string | null;
}

/** A line of a sidecar. */
export interface TapeJudgment {
  /** Empty for a line without one. */
  readonly id: string;
  readonly event: Integer;
  /** The last event it is about. */
  readonly through: Integer;
  /** `unknown` for a kind that is not known here. */
  readonly kind: JudgmentKind | "unknown";
  readonly evidence: string | null;
  readonly fix: TapeValue;
  readonly author: Author | null;
  readonly timestamp: string | null;
  readonly status: string | null;
  readonly friction: string | null;
  readonly links: readonly JudgmentLink[];
  readonly metadata: { readonly [name: string]: TapeValue };
  /** The id of the judgment that this one replaces. */
  readonly supersedes: string | null;
}

interface Judgment {
  readonly kind: JudgmentKind;
  readonly author: Author;
  readonly evidence?: string;
  /** What would have been right. */
  readonly fix?: TapeValue;
  /** The last event, where it is about more than one. */
  readonly through?: Integer;
  /** Of a hypothesis. */
  readonly status?: "active" | "verifying" | "confirmed" | "disproven" | "stale";
  /** Of friction. */
  readonly friction?: string;
  readonly links?: readonly JudgmentLink[];
  readonly metadata?: { readonly [name: string]: TapeValue };
  /** One is made where it is left out. */
  readonly id?: string;
  /** Now, where it is left out. */
  readonly at?: Date;
}

/** A judgment of an event. */
export interface NewJudgment extends Judgment {
  readonly event: Integer | "last";
}

/** A judgment in place of an earlier one, whose members it keeps where it gives none. */
export interface Replacement extends Omit<Partial<Judgment>, "author">, Pick<Judgment, "author"> {
  readonly supersedes: string;
}

export interface TapeFinding {
  readonly code: string;
  readonly message: string;
  /** Of the sidecar, counted from 1. */
  readonly line: number;
}

export interface TapeFiles {
  readonly tape: string | Uint8Array;
  /** Absent where no judgment was made yet. */
  readonly sidecar?: string | Uint8Array;
  /** The name of the tape, which errors and the header of a new sidecar repeat. `tape` */
  readonly name?: string;
}

/** A file that is no tape or no sidecar, or a judgment that a reader of the file would object to. Nothing has changed then. */
export class TapeError extends Error {
  override readonly name = "TapeError";
  readonly code: string;
  /** Of a file that could not be read: where, counted from 1. */
  readonly line: number | undefined;

  constructor(code: string, message: string, line?: number) {
    super(message);
    this.code = code;
    this.line = line;
  }
}

/** A tape and its sidecar. */
export interface AnnotatedTape {
  /** The digest of the events; a sidecar names its tape by it. */
  readonly digest: string;
  readonly events: readonly TapeEvent[];
  /** Every line of the sidecar, in the order of the file. */
  readonly judgments: readonly TapeJudgment[];
  /** Those that no later one replaces and that are about no muted event. */
  readonly currentJudgments: readonly TapeJudgment[];
  /** The text of the sidecar: what was there as it came, then what was added. Undefined while there is no judgment. */
  readonly sidecar: string | undefined;
  /** What is wrong with the sidecar. Empty where nothing is. */
  validate(): Promise<readonly TapeFinding[]>;
  /** Adds a judgment to the sidecar. Throws `TapeError` for one that `validate` would report. */
  annotate(judgment: NewJudgment | Replacement): TapeJudgment;
}
