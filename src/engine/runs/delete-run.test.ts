import { expect, test } from "vitest";
import { partsOf } from "./delete-run.ts";

const familyOf = (versions: readonly number[]) => ({
  runs: versions.map((version, n) => ({ runId: `run-${n}`, workflowId: "w", version })),
  active: [],
  annotations: 3,
});

const idsOf = (versions: readonly number[]) =>
  partsOf(familyOf(versions), "deleted").map(({ runs }) => runs.map(({ runId }) => runId));

test("a small family is deleted in one commit", () => {
  expect(idsOf([10, 10, 10])).toEqual([["run-0", "run-1", "run-2"]]);
});

test("a family with many events is deleted in several commits, those below a run before it", () => {
  expect(idsOf([9000, 9000, 9000, 100_000, 5])).toEqual([["run-4"], ["run-3"], ["run-1", "run-2"], ["run-0"]]);
});

test("each run of a family is in the audit log once, whatever commit it goes in", () => {
  const parts = partsOf(familyOf([9000, 9000, 9000]), "deleted");
  const entries = parts.flatMap((part) => part.entries);
  expect(entries.map(({ target }) => target).sort()).toEqual(["run-0", "run-1", "run-2"]);
  expect(entries.find(({ target }) => target === "run-0")).toMatchObject({ details: { runs: 3, annotations: 3 } });
  for (const part of parts) expect(part.entries.map(({ target }) => target)).toEqual(part.runs.map((run) => run.runId));
});
