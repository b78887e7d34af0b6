import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type Conversation, digestOf, linesOfContent, nextRequest, undecided } from "./conversation.ts";

const conversation = {
  next_iteration: 3,
  remarks: [
    { id: "a", iterations: [1] },
    { id: "b", iterations: [1, 2] },
    { id: "c", iterations: [2] },
  ],
  decisions: {
    a: { status: "accepted", iteration: 2, at: "" },
    b: { status: "rejected", reason_code: "deferred", iteration: 3, at: "" },
  },
} as unknown as Conversation;
const artifact = { media_type: "text/plain", content: "x", artifact_ref: "v" };

test("a request carries the decisions since the last answer, and none that were sent before", () => {
  expect(nextRequest(conversation, artifact)).toEqual({
    protocol_version: "1.2",
    iteration: 3,
    artifact,
    applied_feedback: { items: [{ id: "b", status: "rejected", reason_code: "deferred" }] },
  });
});

test("the first request has no decisions", () => {
  expect(nextRequest({ ...conversation, next_iteration: 1 }, artifact).applied_feedback).toBeUndefined();
});

test("remarks of the last answer want a decision each, also those that were decided on before", () => {
  expect(undecided(conversation)).toEqual(["c"]);
  expect(undecided({ ...conversation, decisions: {} })).toEqual(["b", "c"]);
});

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

test("the version mark of a text is that of its bytes", () => {
  expect(digestOf("Grüße\r\n")).toBe(sha256("Grüße\r\n"));
});

test.each<[unknown, string]>([
  [{ b: [1, { d: null, c: "é" }], a: true }, '{"a":true,"b":[1,{"c":"é","d":null}]}'],
  [[], "[]"],
  [null, "null"],
  [0, "0"],
])("that of %j is that of its JSON with sorted names and no blanks", (content, text) => {
  expect(digestOf(content)).toBe(sha256(text));
});

test("a text is compared as it is, anything else as JSON with sorted names and two blanks of indentation", () => {
  expect(linesOfContent("a\nb")).toBe("a\nb");
  expect(linesOfContent({ b: [1], a: {} })).toBe('{\n  "a": {},\n  "b": [\n    1\n  ]\n}\n');
});
