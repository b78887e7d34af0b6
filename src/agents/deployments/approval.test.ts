import { describe, expect, test } from "vitest";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { approvalIn } from "./approval.ts";

const NOW = 1_000_000;

function asked(interrupt: Partial<Interrupt>, more: Partial<Run> = {}): Run {
  const gate = {
    interruptId: "int-1",
    nodeId: "gate-run-1",
    kind: "approval",
    data: { gateId: "gate-run-1" },
    votes: [],
  };
  const interrupts = { "int-1": { status: "open", ...gate, ...interrupt } };
  return { runId: "run-1", status: "waiting-approval", nodes: {}, interrupts, ...more } as unknown as Run;
}

const GRANTED = { status: "resolved", outcome: "granted" } as const;
const sleeping = (dueAtMs: number) =>
  ({ nodes: { apply: { status: "sleeping", attempt: 1, dueAtMs } } }) as Partial<Run>;

describe("people have let a transition pass", () => {
  test("when the gate was granted, and for as long as that holds, whether or not somebody has looked since", () => {
    expect(approvalIn(asked(GRANTED), NOW).state).toBe("granted");
    expect(approvalIn(asked(GRANTED, sleeping(NOW + 1)), NOW).state).toBe("granted");
    expect(approvalIn(asked(GRANTED, sleeping(NOW)), NOW).state).toBe("refused");
  });

  test("and no longer than from the decision on, however often their run was paused and resumed", () => {
    const closedAt = new Date(NOW - 2000).toISOString();
    const run = asked({ ...GRANTED, closedAt }, { status: "running", ...sleeping(NOW + 5000) });
    expect(approvalIn(run, NOW, { applyWithinSec: 3 }).state).toBe("granted");
    expect(approvalIn(run, NOW, { applyWithinSec: 2 }).state).toBe("refused");
    expect(approvalIn({ ...run, status: "paused" }, NOW, { applyWithinSec: 2 }).state).toBe("refused");
    expect(approvalIn({ ...run, status: "paused" }, NOW, { applyWithinSec: 3 }).state).toBe("waiting");
    expect(approvalIn({ ...run, status: "cancelling" }, NOW, { applyWithinSec: 3 }).state).toBe("refused");
  });

  test("and not while the gate is open, or when its time is over", () => {
    expect(approvalIn(asked({}), NOW).state).toBe("waiting");
    expect(approvalIn(asked({ deadlineMs: NOW + 1 }), NOW).state).toBe("waiting");
    expect(approvalIn(asked({ deadlineMs: NOW }), NOW).state).toBe("refused");
  });

  test("and not by anything else that can become of a gate or its run", () => {
    for (const outcome of ["rejected", "timeout", "cancelled", undefined]) {
      const interrupt = { status: "resolved", ...(outcome === undefined ? {} : { outcome }) } as Partial<Interrupt>;
      expect(approvalIn(asked(interrupt), NOW).state).toBe("refused");
    }
    for (const status of ["completed", "failed", "cancelled"] as const) {
      expect(approvalIn(asked(GRANTED, { status }), NOW).state).toBe("refused");
    }
    const elsewhere = { ...GRANTED, nodeId: "gate-run-2" };
    expect(approvalIn(asked(elsewhere), NOW).state).toBe("waiting");
  });
});
