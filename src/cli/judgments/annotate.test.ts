import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import type { FlagValues } from "../program/command.ts";
import { annotationRequest } from "./annotate.ts";
import type { ANNOTATE_FLAGS } from "./commands.ts";

type Given = FlagValues<typeof ANNOTATE_FLAGS>;

function request(runId: string | undefined, given: Partial<Given>) {
  const none = { up: false, down: false, flag: false } as Given;
  return annotationRequest(runId, { ...none, ...given });
}

describe("the request of annotate", () => {
  test.each<[Partial<Given>, object]>([
    [{ rating: "4" }, { kind: "rating", rating: 4 }],
    [{ up: true }, { kind: "rating", rating: 5 }],
    [{ down: true }, { kind: "rating", rating: 1 }],
    [{ correction: "42" }, { kind: "correction", correction: "42" }],
    [{ label: "pass" }, { kind: "label", label: "pass" }],
    [{ flag: true }, { kind: "flag" }],
  ])("for %j is %j", (given, signal) => {
    expect(request("run-1", given)).toEqual({ does: "annotate", runId: "run-1", body: { signal } });
  });

  test("has every flag that was given, and nothing else", () => {
    const given = { flag: true, note: "odd", event: "evt-1", node: "a", supersedes: "ann-1", confidence: "0.25" };
    expect(request("run-1", given)).toEqual({
      does: "annotate",
      runId: "run-1",
      body: {
        target: { eventId: "evt-1", nodeId: "a" },
        signal: { kind: "flag" },
        note: "odd",
        supersedes: "ann-1",
        confidence: 0.25,
      },
    });
  });

  test("takes a correction from a file, without the newline at its end", () => {
    const file = join(tempDir(), "better.txt");
    writeFileSync(file, "one\ntwo\n");
    expect(request("run-1", { correction: `@${file}` })).toMatchObject({
      body: { signal: { kind: "correction", correction: "one\ntwo" } },
    });
    expect(() => request("run-1", { correction: "@nowhere.txt" })).toThrow(/--correction cannot be read/);
  });

  test("withdraws and closes by the id of the annotation", () => {
    expect(request(undefined, { retract: "ann-1", reason: "wrong run" })).toEqual({
      does: "retract",
      annotationId: "ann-1",
      body: { reason: "wrong run" },
    });
    expect(request(undefined, { close: "ann-1", note: "fixed" })).toEqual({
      does: "close",
      annotationId: "ann-1",
      body: { note: "fixed" },
    });
  });
});

describe("annotate refuses", () => {
  test.each<[string | undefined, Partial<Given>, RegExp]>([
    ["run-1", {}, /say what you judge: --rating N, --up/],
    ["run-1", { note: "only a note" }, /say what you judge/],
    ["run-1", { rating: "4", flag: true }, /--rating and --flag are two things/],
    ["run-1", { up: true, down: true }, /--up and --down are two things/],
    ["run-1", { flag: true, retract: "ann-1", reason: "x" }, /--flag and --retract are two things/],
    [undefined, { flag: true }, /name the run to judge/],
    ["run-1", { flag: true, reason: "x" }, /--reason does not go with --flag/],
    ["run-1", { retract: "ann-1", reason: "x" }, /leave out run-1/],
    [undefined, { retract: "ann-1" }, /--retract needs --reason TEXT/],
    [undefined, { close: "ann-1" }, /--close needs --note TEXT/],
    [undefined, { retract: "ann-1", reason: "x", note: "y" }, /--note does not go with --retract/],
    [undefined, { close: "ann-1", note: "x", node: "a" }, /--node does not go with --close/],
    ["run-1", { flag: true, confidence: "2" }, /--confidence 2 must be a number from 0 to 1/],
    ["run-1", { flag: true, confidence: "" }, /must be a number from 0 to 1/],
    ["run-1", { flag: true, confidence: "1e-3" }, /must be a number from 0 to 1/],
  ])("%s %j", (runId, given, problem) => {
    expect(() => request(runId, given)).toThrow(problem);
  });
});
