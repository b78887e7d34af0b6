import { defined } from "../../../protocol/defined.ts";
import type { FreeForm, FreeMap } from "../../json/print-json.ts";
import type { TapeFacts } from "../tape-facts.ts";
import { type Problem, problemsOfRow } from "../validate/problems.ts";
import {
  freeId,
  type HypothesisStatus,
  isAdvisedStep,
  type NewRow,
  newRow,
  type RowDraft,
  replacing,
} from "./new-row.ts";
import { nameOfRow, type Row } from "./sidecar.ts";
import type { EarlierRow, SidecarState } from "./sidecar-state.ts";

/** A row that somebody asks for. A member that is undefined was not given; a replacement keeps its earlier value. */
export interface RowRequest {
  readonly kind: string | undefined;
  readonly id: string | undefined;
  readonly evidence: string | undefined;
  readonly fix: FreeForm | undefined;
  readonly span: { readonly start: bigint | undefined; readonly end: bigint } | undefined;
  readonly status: HypothesisStatus | undefined;
  readonly friction: string | undefined;
  readonly links: Row["links"];
  readonly metadata: FreeMap;
  readonly author: NonNullable<Row["author"]>;
}

/** A reason against a row: what the validator would report of it, and what is against the advice for replacements. */
export type Objection =
  | Problem
  | { readonly code: "already_superseded"; readonly annotation_id: string; readonly newest: readonly string[] }
  | {
      readonly code: "status_step_unusual";
      readonly annotation_id: string;
      readonly from: HypothesisStatus;
      readonly to: HypothesisStatus;
    };

export interface DecidedRow extends NewRow {
  /** As it was asked for; the reader knows fewer kinds. */
  readonly draft: RowDraft;
  readonly objections: readonly Objection[];
}

/** The requested row, about an event or in place of an earlier row. Throws `Unreadable` when it could not be read back. */
export function decideRow(
  request: RowRequest,
  about: bigint | EarlierRow,
  state: Pick<SidecarState, "header" | "ids">,
  tape: TapeFacts,
  timestamp: string,
): DecidedRow {
  const earlier = typeof about === "bigint" ? undefined : about;
  const eventId = typeof about === "bigint" ? about : about.row.event_id;
  const { author, metadata } = request;
  const id = request.id ?? freeId(eventId, (one) => state.ids.has(one));
  const given = { ...givenMembers(request, eventId), id, timestamp, author, metadata };
  const draft = earlier === undefined ? { ...EMPTY, ...given, event_id: eventId } : replacing(earlier.row, given);
  const made = newRow(draft);
  const objections = [
    ...problemsOfRow(made.row, state.ids.has(id), tape.seqs),
    ...headerProblems(state, tape),
    ...(earlier === undefined ? [] : objectionsToReplacing(earlier, draft)),
  ];
  return { ...made, draft, objections };
}

const EMPTY = {
  kind: "",
  evidence: null,
  suggested_fix: null,
  span: null,
  hypothesis_status: null,
  friction_kind: null,
  links: [],
} as const;

function givenMembers(request: RowRequest, eventId: bigint): Partial<Omit<RowDraft, "metadata">> {
  const { kind, evidence, fix, span, status, friction, links } = request;
  return defined({
    kind,
    evidence,
    suggested_fix: fix,
    span: span && { start_event_id: span.start ?? eventId, end_event_id: span.end },
    hypothesis_status: status,
    friction_kind: friction,
    links: links.length === 0 ? undefined : links,
  });
}

function* headerProblems({ header }: Pick<SidecarState, "header">, { digest: actual }: TapeFacts) {
  const expected = header?.tape_content_hash ?? null;
  if (expected !== null && expected !== actual) yield { code: "tape_digest_mismatch", expected, actual } as const;
}

function* objectionsToReplacing({ row, newest }: EarlierRow, draft: RowDraft): Generator<Objection> {
  const annotation_id = nameOfRow(row);
  if (newest.length > 0) yield { code: "already_superseded", annotation_id, newest };
  const [from, to] = [row.hypothesis_status, draft.hypothesis_status];
  if (from !== null && to !== null && !isAdvisedStep(from, to)) {
    yield { code: "status_step_unusual", annotation_id, from, to };
  }
}

/** The objection as a text for the author of the row. */
export function explainObjection(
  objection: Extract<Objection, { code: "already_superseded" | "status_step_unusual" }>,
): string {
  const { annotation_id } = objection;
  if (objection.code === "already_superseded") {
    return `${annotation_id} has been replaced already; the newest is ${objection.newest.join(", ")}`;
  }
  const { from, to } = objection;
  const why =
    from === "verifying" ? `and does not go back to ${to}` : `which ends a hypothesis; it does not become ${to}`;
  return `${annotation_id} is ${from}, ${why}`;
}
