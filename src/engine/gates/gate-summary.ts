import { defined } from "../../protocol/defined.ts";
import type {
  GateFigures,
  GateGrouping,
  GateSummaryQuery,
  GateSummaryResponse,
} from "../../protocol/gates/inbox-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { queryInstant } from "../../protocol/instant.ts";
import type { GateSummaryRow } from "../../store/port/gates.ts";
import type { Host } from "../host.ts";
import { serializeFor } from "../shared/serialize.ts";
import { pauses } from "../worker/pauses.ts";

/** Figures about the gates that were opened within a time; without `groupBy` only the total. One at a time for each tenant. */
export async function gateSummary(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  { workflowId, from, to, groupBy }: GateSummaryQuery,
): Promise<GateSummaryResponse> {
  const query = {
    ...defined({ workflowId }),
    ...(from === undefined ? {} : { fromMs: queryInstant("from", from) }),
    ...(to === undefined ? {} : { toMs: queryInstant("to", to) }),
  };
  const pause = pauses();
  return serializeFor(store, `summaries of ${visible.tenant}`, async () => {
    const [total = NOTHING] = await store.gateSummary(visible, query);
    const rows = groupBy === undefined ? [] : await store.gateSummary(visible, { ...query, groupBy });
    const groups: GateSummaryResponse["groups"] = [];
    for (const row of rows) {
      groups.push({ key: keyOf(groupBy, row.key), ...figuresOf(row) });
      await pause();
    }
    return { total: figuresOf(total), groups };
  });
}

const NOTHING: GateSummaryRow = {
  key: "",
  opened: 0,
  decided: 0,
  rejected: 0,
  timedOut: 0,
  overridden: 0,
  medianSeconds: null,
  p95Seconds: null,
  underTenSeconds: 0,
};

function figuresOf({ key: _, ...row }: GateSummaryRow): GateFigures {
  const { opened, decided, timedOut, overridden } = row;
  return { ...row, timeoutShare: shareOf(timedOut, opened), overrideShare: shareOf(overridden, decided) };
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function keyOf(groupBy: GateGrouping | undefined, key: string): GateSummaryResponse["groups"][number]["key"] {
  switch (groupBy) {
    case "node": {
      // Ids of workflows have no spaces.
      const space = key.indexOf(" ");
      return { workflowId: key.slice(0, space), nodeId: key.slice(space + 1) };
    }
    case "principal":
      return { principal: key };
    case "day":
      return { day: key };
    default:
      return { workflowId: key };
  }
}
