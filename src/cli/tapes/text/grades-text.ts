import {
  type Dispute,
  GRADERS,
  type Grade,
  type GradedBy,
  type GradeFigures,
  type Grades,
} from "../../../formats/tapes/grade.ts";
import { formatCount } from "../../output/amount.ts";
import type { Paint } from "../../output/io.ts";
import { printable } from "../../output/printable.ts";
import { formatTable } from "../../output/table.ts";

const LISTED_MAX = 20;

/** How often each was right, from whose judgments, and what was left out of it. */
export function gradesText({ total, groups }: Grades, by: GradedBy, paint: Paint): string {
  const rows = groups.flatMap((group) => rowsOf(group, group.of === null ? `(no ${by})` : printable(group.of)));
  if (groups.length > 1) rows.push(...rowsOf(total, "all"));
  const headings = [by.toUpperCase(), "CORRECT", "INCORRECT", "RATE", "95 %", "DISPUTED", "MUTED", "JUDGMENTS"];
  const parts = [formatTable(headings, rows, paint)];
  if (total.disputes.length > 0)
    parts.push(["Judged both ways, and in no rate:", ...disputed(total.disputes)].join("\n"));
  if (total.muted > 0) parts.push(`${formatCount(total.muted, "judged event")} muted, and left out.`);
  return parts.join("\n\n");
}

/** Judges of different kinds are shown apart where there are several. */
function rowsOf({ byAuthorKind, ...all }: Grade, name: string): string[][] {
  const kinds = GRADERS.flatMap((kind) => {
    const figures = byAuthorKind[kind];
    return figures === undefined ? [] : [{ kind, figures }];
  });
  const [only] = kinds;
  if (kinds.length === 1 && only !== undefined) return [cells(`${name}, ${JUDGES[only.kind]}`, all)];
  return [cells(name, all), ...kinds.map(({ kind, figures }) => cells(`  ${JUDGES[kind]}`, figures))];
}

const JUDGES: Readonly<Record<(typeof GRADERS)[number], string>> = {
  human: "by people",
  agent: "by agents",
  system: "by systems",
  unstated: "author unstated",
};

function cells(name: string, figures: GradeFigures): string[] {
  const { correct, incorrect, rate, interval, disputed, muted, judgments } = figures;
  return [
    name,
    String(correct),
    String(incorrect),
    rate === null ? "-" : percent(rate),
    interval === null ? "-" : `${percent(interval.low)} to ${percent(interval.high)}`,
    String(disputed),
    String(muted),
    String(judgments),
  ];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function disputed(disputes: readonly Dispute[]): string[] {
  const lines = disputes.slice(0, LISTED_MAX).map(({ path, eventId, correct, incorrect }) => {
    return `  ${printable(path)} event ${eventId}: correct says ${names(correct)}, incorrect says ${names(incorrect)}`;
  });
  const more = disputes.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

function names(rows: readonly string[]): string {
  return rows.map(printable).join(", ");
}
