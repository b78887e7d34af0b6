import { describe, expect, test } from "vitest";
import { digestOf } from "./conversation.ts";
import { readReaction } from "./loop.ts";

const read = (reaction: object) =>
  readReaction(JSON.stringify({ decisions: [], ...reaction }), "text/markdown", "react");

describe("a reaction", () => {
  test("may bring a text, which is of the type that was reviewed", () => {
    expect(read({ artifact: "x" }).artifact).toEqual({
      media_type: "text/markdown",
      content: "x",
      artifact_ref: digestOf("x"),
    });
  });

  test("may bring another type and its own name for the version", () => {
    const artifact = { media_type: "text/plain", content: [1], artifact_ref: "v2" };
    expect(read({ artifact }).artifact).toEqual(artifact);
  });

  test("may bring none", () => {
    expect(read({}).artifact).toBeUndefined();
  });

  test.each([[{ media_type: "plain", content: "" }], [{ media_type: "text/plain" }], [null]])(
    "with the artifact %j is of no use",
    (artifact) => {
      expect(() => read({ artifact })).toThrow("react gave no usable reaction: artifact");
    },
  );
});
