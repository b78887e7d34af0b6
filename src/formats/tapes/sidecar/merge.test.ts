import { describe, expect, test } from "vitest";
import { HEADER, line, sidecar } from "../../../testing/sidecar-client.ts";
import { scrubber } from "../../secrets/scrub.ts";
import { scrubLine } from "../scrub.ts";
import { mergeFiles, type PulledInto } from "./merge.ts";

const { scrubText } = scrubber();
const SECRET = `ghp_${"a1B2".repeat(9)}`;

function pulled(here: string, there: string, past: readonly string[] = [], more: Partial<PulledInto> = {}) {
  const scrub = (text: string) => scrubLine(text, scrubText);
  const { text, changes } = mergeFiles({ path: "here", here, there, past: new Set(past), scrub, ...more });
  return { text, what: changes.map(({ what }) => what) };
}

describe("pulling into a file that is there", () => {
  test("changes nothing when the server has nothing else", () => {
    const here = `# mine\r\n\r\n${HEADER}\r\n ${line({ id: "a" })} \r\n${line({})}`;
    expect(pulled(here, here)).toEqual({ text: here, what: [] });
  });

  test("keeps secrets that the server was not shown", () => {
    const here = sidecar(`# ${SECRET}`, { id: "a", evidence: SECRET }, { evidence: `no id ${SECRET}` });
    const there = here.replaceAll(SECRET, "[REDACTED]");
    expect(pulled(here, there)).toEqual({ text: here, what: [] });
  });

  test("keeps what only the server takes for a secret", () => {
    const here = sidecar({ id: "a", evidence: "the word is hunter2" }, { evidence: "hunter2, hunter2" });
    const there = here.replaceAll("hunter2", "[REDACTED]");
    expect(pulled(here, there)).toEqual({ text: here, what: [] });
  });

  test("does not take a shorter text for one with something hidden in it", () => {
    const here = sidecar({ id: "a", evidence: "xx" });
    const there = sidecar({ id: "a", evidence: "xx[REDACTED]x" });
    expect(pulled(here, there)).toEqual({ text: here, what: ["edited"] });
  });

  test("adds what came since, in the line ends of the file", () => {
    const here = sidecar({ id: "a" }).replaceAll("\n", "\r\n").trimEnd();
    const there = sidecar({ id: "a" }, { id: "b" });
    expect(pulled(here, there)).toEqual({ text: `${here}\r\n${line({ id: "b" })}\r\n`, what: ["added"] });
  });

  test("takes out what was retracted and renews what was changed there, and nothing else", () => {
    const old = line({ id: "b", evidence: "old" });
    const gone = line({ id: "c" });
    const here = sidecar({ id: "a" }, old, gone, "# after");
    const there = sidecar({ id: "a" }, { id: "b", evidence: "new" });
    expect(pulled(here, there, [old, gone])).toEqual({
      text: sidecar({ id: "a" }, { id: "b", evidence: "new" }, "# after"),
      what: ["removed", "changed"],
    });
  });

  test("keeps rows and changes that were never pushed where they are, and comments", () => {
    const here = sidecar("# mine", { id: "new" }, { id: "a", evidence: "edited" }, { evidence: "no id" }, { id: "b" });
    const there = sidecar("# theirs", { id: "a" }, { id: "b" }, { id: "c" });
    expect(pulled(here, there)).toEqual({
      text: sidecar(
        "# mine",
        { id: "new" },
        "# theirs",
        { id: "a", evidence: "edited" },
        { evidence: "no id" },
        { id: "b" },
        { id: "c" },
      ),
      what: ["kept", "kept", "edited", "added"],
    });
  });

  test("tells rows of one id, and lines that are there twice, apart", () => {
    const here = sidecar({ id: "a", evidence: "1" }, { id: "a", evidence: "2" }, { evidence: "x" }, { evidence: "x" });
    expect(pulled(here, here)).toEqual({ text: here, what: [] });
    const there = sidecar({ id: "a", evidence: "2" }, { evidence: "x" });
    const past = [line({ id: "a", evidence: "1" })];
    const merged = pulled(here, there, past);
    expect(merged.what).toEqual(["removed", "kept"]);
    expect(merged.text).toBe(sidecar({ id: "a", evidence: "2" }, { evidence: "x" }, { evidence: "x" }));
  });

  test("ends in the file of the server when nothing here is new", () => {
    const old = line({ id: "a", evidence: "old" });
    const there = `# theirs\n${sidecar({ evidence: "first" }, { id: "a", evidence: "new" }, "# and more")}`;
    expect(pulled(sidecar(old), there, [old]).text).toBe(there);
  });

  test("throws for a file that is no sidecar", () => {
    expect(() => pulled("{}", sidecar())).toThrow("load annotations here: parse annotation header at line 1 in here");
  });
});
