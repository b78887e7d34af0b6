import { expect, test } from "vitest";
import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { sourceRun } from "../../testing/branches.ts";
import { engineOn } from "../../testing/engine.ts";
import { TurnBase } from "./turn-base.ts";

/** Keeps the run after each event. */
class Watched extends TurnBase {
  readonly seen: Run[] = [];
  protected override launch(): void {}
  protected override suspend(): void {}
  protected override dispatch(): void {}

  write(...drafts: EventDraft[]): Run {
    this.emit(drafts);
    return this.run;
  }

  protected override append(draft: EventDraft, timestamp: string): void {
    super.append(draft, timestamp);
    this.seen.push(this.run);
  }
}

const changes = (from: number, to: number): EventDraft[] =>
  Array.from({ length: to - from }, (_, i) => {
    const payload = { name: `v${from + i}`, next: `hidden value ${from + i}`, nodeId: "a", sensitive: true as const };
    return { type: "variable.changed", nodeId: "a", payload: { ...payload, next: "[REDACTED]" }, sealed: payload };
  });

function distinct(seen: readonly Run[], member: "variables" | "secrets" | "sensitive"): number {
  return new Set(seen.map((run) => run[member])).size;
}

test("what a node writes in one go is copied once, however many variables there are, and no run before it changes", async () => {
  const { plan, run } = sourceRun({ nodes: { a: "core.noop" } });
  const store = await openSqliteStore({ path: ":memory:" });
  const turning = new Watched(engineOn(store), plan, run);
  const first = turning.write(...changes(0, 50));
  const shown = JSON.stringify(first);
  turning.seen.length = 0;
  const second = turning.write(...changes(50, 100));
  expect(turning.seen).toHaveLength(50);
  for (const member of ["variables", "secrets", "sensitive"] as const) expect(distinct(turning.seen, member)).toBe(1);
  expect(JSON.stringify(first)).toBe(shown);
  expect(Object.keys(first.variables)).toHaveLength(50);
  expect(Object.keys(second.variables)).toHaveLength(100);
  expect(second.secrets).toHaveLength(100);
  expect(second.sensitive).toEqual(Array.from({ length: 100 }, (_, i) => `v${i}`));
  await store.close();
});
