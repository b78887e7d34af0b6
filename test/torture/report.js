// @ts-check

/** @typedef {import("./torture.js").Report} Report */

/** Whatever is wrong is one of these, or something else. */
const KINDS = /** @type {const} */ ({
  lost: /gone|lost|rows and runs differ|other runs|left out/,
  duplicated: /twice|two runs|several runs|repeat|two active/,
});

/**
 * @param {readonly Report[]} reports
 * @returns {string}
 */
export function table(reports) {
  /** @type {[string, (report: Report) => string | number][]} */
  const lines = [
    ["seed", ({ seed }) => seed],
    ["rounds", ({ rounds }) => rounds],
    ["kills", ({ kills }) => kills],
    ["freezes", ({ freezes }) => freezes],
    ["writes acknowledged", ({ journal }) => journal.writes],
    ["requests without answer", ({ journal }) => journal.counts.unanswered],
    ["answers 503", ({ journal }) => journal.counts.unavailable],
    ["answers replayed by key", ({ journal }) => journal.counts.replayed],
    ["events seen live", ({ journal }) => journal.counts.eventsSeen],
    ["streams and polls taken up again", ({ journal }) => journal.counts.reconnects],
    ["runs", ({ found }) => found.runs],
    ["events", ({ found }) => found.events],
    ["interrupts, votes", ({ found }) => `${found.interrupts}, ${found.votes}`],
    ["judgments, replays", ({ found }) => `${found.judgments}, ${found.replays}`],
    ["events delivered, repeated", ({ found }) => `${found.deliveries}, ${found.repeated}`],
    ["audit entries verified", ({ found }) => found.auditEntries],
    ["rows equal to the fold of their log", ({ found }) => found.rows],
    ["all ended after the last crash, ms", ({ found }) => Math.round(found.settleMs)],
    ["lost", (report) => count(report, "lost")],
    ["duplicated", (report) => count(report, "duplicated")],
    ["other violations", (report) => count(report, undefined)],
    ["seconds", ({ tookMs }) => (tookMs / 1000).toFixed(1)],
  ];
  const rows = [["", ...reports.map(({ title }) => title)]];
  for (const [name, value] of lines) rows.push([name, ...reports.map((report) => String(value(report)))]);
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
}

/**
 * What was wrong, the first few of each kind.
 * @param {Pick<Report, "title" | "journal" | "evidence">} report
 */
export function complaints({ title, journal, evidence }) {
  /** @type {Map<string, object[]>} */
  const byWhat = new Map();
  for (const { what, details } of journal.violations) byWhat.set(what, [...(byWhat.get(what) ?? []), details]);
  const lines = [...byWhat].flatMap(([what, all]) => [
    `${title}: ${what} (${all.length})`,
    ...all.slice(0, 3).map((details) => `  ${JSON.stringify(details).slice(0, 2000)}`),
  ]);
  if (evidence !== undefined) lines.push(`${title}: everything is kept in ${evidence}`);
  return lines.join("\n");
}

/**
 * @param {Report} report
 * @param {keyof typeof KINDS | undefined} kind
 */
function count({ journal }, kind) {
  const kindOf = (/** @type {string} */ what) =>
    KINDS.lost.test(what) ? "lost" : KINDS.duplicated.test(what) ? "duplicated" : undefined;
  const found = journal.violations.filter(({ what }) => kindOf(what) === kind).length;
  const more = journal.counts.violations > journal.violations.length ? "+" : "";
  return found === 0 ? "0" : `${found}${more}`;
}
