import { endLine, headerLine, judgmentLine } from "../../formats/judgments/judgment-lines.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AnnotationFilter } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationPlace } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { Mutes } from "../tapes/mutes.ts";
import { wantedBy } from "./annotation-filter.ts";
import { judgmentOf } from "./annotation-view.ts";
import { blindness, readPage } from "./list-annotations.ts";

const PAGE = 200;

/** The lines of an export, page by page. The order of judgments does not change, so none is exported twice or left out because of concurrent writes. */
export async function* exportJudgments(
  host: Pick<Host, "store" | "scrubber">,
  caller: Caller,
  filter: AnnotationFilter,
): AsyncGenerator<readonly string[], undefined> {
  // Checked before the first line is written.
  const wanted = wantedBy(filter);
  yield [headerLine(host.scrubber.scrubValue(filter))];
  const mutes = await Mutes.read(host.store, caller, filter);
  let count = 0;
  for (let after: AnnotationPlace | undefined, more = wanted !== undefined; more; more = after !== undefined) {
    const asked = { ...wanted, order: "oldest" as const, ...blindness(caller) };
    const { records, next } = await readPage(host, caller, asked, PAGE, after);
    count += records.length;
    const lines: string[] = [];
    for (const record of records) {
      const silenced = await mutes.silencedIn(record.runId);
      lines.push(judgmentLine(judgmentOf(record, silenced.has(record.annotationId))));
    }
    yield lines;
    after = next;
  }
  yield [endLine(count)];
}
