import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { resumeValue } from "./resume-value.ts";

type Flags = Parameters<typeof resumeValue>[1];

const NONE: Flags = {
  reason: undefined,
  feedback: undefined,
  override: false,
  edited: undefined,
  question: undefined,
  answer: [],
  value: undefined,
  voter: undefined,
  revision: undefined,
  artifactDigest: undefined,
};

const made = (action: string | undefined, flags: Partial<Flags> = {}) => resumeValue(action, { ...NONE, ...flags });

describe("what is sent to a gate", () => {
  test.each([
    ["accept", {}, { action: "accept" }],
    ["reject", { reason: "no" }, { action: "reject", reason: "no" }],
    ["accept", { feedback: "fine", voter: "bo" }, { action: "accept", feedback: "fine", voter: "bo" }],
    ["refine", { feedback: "shorter" }, { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } }],
    ["edit-accept", { edited: '{"a":1}' }, { action: "edit-accept", editedArtifactData: { a: 1 } }],
    ["edit-accept", { edited: "null" }, { action: "edit-accept", editedArtifactData: null }],
    ["ask", { question: "Why?" }, { action: "ask", question: "Why?" }],
    ["granted", {}, { decision: "granted" }],
    ["rejected", { reason: "no" }, { decision: "rejected", reason: "no" }],
    ["granted", { override: true, reason: "fire" }, { decision: "granted", reason: "fire", override: true }],
    ["accept", { override: true, reason: "fire" }, { action: "accept", reason: "fire", override: true }],
    ["granted", { value: '{"ticket":7}' }, { ticket: 7, decision: "granted" }],
  ])("for %s with %j is %j", (action, flags, value) => {
    expect(made(action, flags)).toEqual(value);
  });

  test("may hold an artifact from a file", () => {
    const file = join(tempDir(), "edited.json");
    writeFileSync(file, '["from a file"]');
    expect(made("edit-accept", { edited: `@${file}` })).toMatchObject({ editedArtifactData: ["from a file"] });
  });
});

describe("what is sent to anything else", () => {
  test("is the answers by question, or a value of any kind", () => {
    expect(made(undefined, { answer: ["q1=blue", "q2=3"] })).toEqual({ answers: { q1: "blue", q2: 3 } });
    expect(made(undefined, { value: '{"orderId":7}' })).toEqual({ orderId: 7 });
    expect(made(undefined, { value: "null" })).toBeNull();
  });
});

describe("what cannot go together is refused with what to do", () => {
  test.each([
    [undefined, {}, /say what to answer: an action \(accept, .*\), --answer ID=VALUE, or --value JSON/],
    ["acept", {}, /no action acept; use accept/],
    ["dance", {}, /no action dance; use one of accept, reject/],
    ["refine", {}, /refine needs --feedback/],
    ["edit-accept", {}, /edit-accept needs --edited/],
    ["ask", {}, /ask needs --question/],
    ["accept", { edited: "1" }, /--edited goes with edit-accept/],
    ["accept", { question: "?" }, /--question goes with ask/],
    ["accept", { answer: ["a=1"] }, /--answer is for questions/],
    ["accept", { value: "7" }, /--value must be a JSON object/],
    [undefined, { value: "{", reason: undefined }, /--value is not JSON/],
    [undefined, { value: "1", answer: ["a=1"] }, /use one/],
    [undefined, { value: "1", reason: "because" }, /--reason goes with an action/],
    [undefined, { answer: ["a=1"], override: true }, /--override goes with an action/],
    [undefined, { answer: ["blue"] }, /must look like NAME=VALUE/],
  ])("%s with %j", (action, flags, message) => {
    expect(() => made(action, flags)).toThrow(message);
  });
});
