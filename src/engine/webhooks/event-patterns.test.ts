import { describe, expect, test } from "vitest";
import { EVENTS } from "../../protocol/events.ts";
import { requirePatterns, typesMatching } from "./event-patterns.ts";

describe("the events a webhook names", () => {
  test("are types, families, or all of them", () => {
    expect([...typesMatching(["run.completed", "run.failed"])]).toEqual(["run.completed", "run.failed"]);
    expect(typesMatching(["*"]).size).toBe(Object.keys(EVENTS).length);
    const approvals = [...typesMatching(["approval.*"])];
    expect(approvals).toContain("approval.granted");
    expect(approvals.every((type) => type.startsWith("approval."))).toBe(true);
    expect([...typesMatching(["assay.vote.*"])]).toEqual(["assay.vote.recorded"]);
  });

  test("must be able to match something, and the refusal says what there is", () => {
    requirePatterns(["*", "run.*", "node.failed"]);
    const refusal = (pattern: string) => {
      try {
        requirePatterns(["run.started", pattern]);
      } catch (error) {
        return (error as Error).message;
      }
      return "accepted";
    };
    expect(refusal("run.complete")).toContain('nothing is called "run.complete"; there are run.started, ');
    expect(refusal("run.complete")).toContain("run.completed");
    expect(refusal("Run.completed")).toMatch(/there are .*run\.\*/);
    for (const pattern of ["runs.*", "run", "run.", "*.completed", "**", ".*", "run.*.x", "toString", "__proto__"]) {
      expect(refusal(pattern)).toContain("nothing is called");
    }
  });
});
