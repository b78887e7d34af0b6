import { printPlain } from "../../../formats/json/print-plain.ts";
import type { Count, History, Summary } from "../../../formats/tapes/show.ts";
import { annotatedEvents } from "../../../formats/tapes/show.ts";
import { stretchOf } from "../../../formats/tapes/sidecar/current-rows.ts";
import { printExportedRow, type Row } from "../../../formats/tapes/sidecar/sidecar.ts";
import { addTo } from "../../../formats/text/groups.ts";
import type { Review } from "../files/read-review.ts";

export interface ReviewDocument {
  readonly review: Review;
  readonly rows: readonly Row[];
  readonly summary: Summary;
  readonly history: readonly History<Row>[];
}

/** Everything that the views show, as one document in pieces. Integers are exact. */
export function* reviewJson({ review, rows, summary, history }: ReviewDocument): Generator<string> {
  yield `{"annotations":${review.annotations},"problems":${review.problems},"events":[`;
  yield* joined(eventTexts(review, rows));
  yield `],"summary":${printPlain(summaryOf(summary))},"history":[`;
  yield* joined(historyTexts(history));
  yield "]}\n";
}

function* joined(texts: Iterable<string>): Generator<string> {
  let before = "";
  for (const text of texts) {
    yield before + text;
    before = ",";
  }
}

/** As in the block: by number, and only those with annotations. */
function* eventTexts({ events }: Review, rows: readonly Row[]): Generator<string> {
  const byEvent = new Map<bigint, Row[]>();
  for (const row of rows) addTo(byEvent, row.event_id, row);
  for (const { seq, virtual_time_ms, kind } of annotatedEvents(events, byEvent)) {
    const annotations = (byEvent.get(seq) ?? []).map(printExportedRow).join(",");
    yield `{"seq":${seq},"virtual_time_ms":${virtual_time_ms},"kind":"${kind}","annotations":[${annotations}]}`;
  }
}

function summaryOf({ counted, replaced, muted, mutes, kinds, frictionKinds, hypothesisStatuses }: Summary) {
  const named = (counts: readonly Count[]) => Object.fromEntries(counts.map(({ name, count }) => [name, count]));
  return {
    counted: counted.length,
    replaced,
    muted,
    mutedEvents: mutes.map(stretchOf).map(({ first, last }) => ({ first, last })),
    kinds: named(kinds),
    frictionKinds: named(frictionKinds),
    hypothesisStatuses: named(hypothesisStatuses),
  };
}

function* historyTexts(histories: readonly History<Row>[]): Generator<string> {
  for (const { steps } of histories) {
    const texts = steps.map(({ row, replaces, isNewest, isAdvised }) => {
      const about = printPlain({ replaces: replaces?.id ?? null, newest: isNewest, advised: isAdvised });
      return `${about.slice(0, -1)},"annotation":${printExportedRow(row)}}`;
    });
    yield `{"steps":[${texts.join(",")}]}`;
  }
}
