import { describe, expect, test } from "vitest";
import { mediaTypeOfFile } from "../../formats/reviews/media-types.ts";
import { commandArguments, commandLine, isForked } from "./command-line.ts";
import { newReviewName } from "./reviews-folder.ts";
import { isUsableSession } from "./session-id.ts";

const turn = { directory: "/work", title: "Review of plan.md", session: undefined };

describe("the command", () => {
  test("is the real one unless another is given, and knows its directory", () => {
    const command = commandLine({ args: [] });
    const first = [
      "run",
      "--agent",
      "qualitative-reviewer",
      "--format",
      "json",
      "--dir",
      "/work",
      "--title",
      "Review of plan.md",
    ];
    expect(command.program).toBe("opencode");
    expect(commandArguments(command, turn)).toEqual(first);
    expect(commandArguments(command, { ...turn, session: "ses_1" })).toEqual([...first, "--session", "ses_1"]);
  });

  test("that is another one is asked for no more than it is sure to know", () => {
    const command = commandLine({ program: "./reviewer", args: ["--fast"], agent: "strict" });
    expect(commandArguments(command, turn)).toEqual(["--fast", "--agent", "strict", "--format", "json"]);
    const knowing = commandLine({ program: "./reviewer", args: [], takes_directory: true });
    expect(commandArguments(knowing, turn)).toContain("--title");
  });

  test("is the real one under any path", () => {
    expect(commandLine({ program: "/opt/bin/opencode", args: [] })).toMatchObject({
      args: ["run"],
      takes_directory: true,
    });
    expect(commandLine({ program: "opencode", args: ["run", "--model", "m"] }).args).toEqual(["run", "--model", "m"]);
  });

  test("that copies a session gets another one back", () => {
    expect([["--fork"], []].map((args) => isForked(commandLine({ program: "x", args })))).toEqual([true, false]);
  });
});

test.each([
  ["ses_0123", true],
  ["x".repeat(256), true],
  ["x".repeat(257), false],
  ["", false],
  ["-s", false],
  ["a b", false],
  ["a\u0000b", false],
  ["a\u00a0b", false],
  ["a\u0085", false],
])("the session %j can be passed on: %s", (session, isUsable) => expect(isUsableSession(session)).toBe(isUsable));

test.each([
  ["plan.MD", "text/markdown"],
  ["a/b.json", "application/json"],
  ["x.ts", "application/typescript"],
  ["Makefile", "text/plain"],
  ["x.constructor", "text/plain"],
])("a file called %s holds %s", (path, type) => expect(mediaTypeOfFile(path)).toBe(type));

test("a review is called after its file, and as no other", () => {
  const random = Uint8Array.from([0, 1, 2, 3, 4, 255]);
  expect(newReviewName("/x/Große Pläne.md", random)).toMatch(/^gro-e-pl-ne-md-[a-z2-9]{6}$/);
  expect(newReviewName("…", random)).toMatch(/^review-[a-z2-9]{6}$/);
});
