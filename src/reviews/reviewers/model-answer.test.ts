import { describe, expect, test } from "vitest";
import { REMARK_ID } from "../../formats/reviews/response.ts";
import { ArtifactText, idFor } from "./model-answer.ts";

const plan = new ArtifactText("# Plan\n\n1. Stop the importer.\n   Wait for it.\n2. Copy the data.\n");

describe("a passage", () => {
  test("is found in the line that holds it", () => {
    expect(plan.find("the importer")?.line).toBe("1. Stop the importer.");
  });

  test("is found over line breaks and whatever the indentation", () => {
    expect(plan.find("the importer.\tWait for it.\n")?.part).toBe(plan.find("importer. Wait for it")?.part);
    expect(plan.find("Stop the importer. Wait")?.line).toBe("1. Stop the importer.");
  });

  test("that does not stand there is not found", () => {
    expect(plan.find("Start the importer")).toBeUndefined();
    expect(plan.find("copy the data")).toBeUndefined();
  });

  test("of nothing but blanks is the whole", () => {
    expect(plan.find(" \n")?.line).toBe("");
    expect(plan.find("")?.part).not.toBe(new ArtifactText("something else").find("")?.part);
  });

  test("is the same part as long as its lines are, wherever they move", () => {
    const moved = new ArtifactText("Owner: us.\n\n2. Copy the data.\n1. Stop the importer.\n");
    expect(moved.find("importer")?.part).toBe(plan.find("Stop the importer")?.part);
    const changed = new ArtifactText("1. Stop the importer now.\n");
    expect(changed.find("Stop the importer")?.part).not.toBe(plan.find("Stop the importer")?.part);
  });

  test("of an earlier text is recognised in a later one", () => {
    const two = plan.find("importer. Wait for it")?.part ?? "";
    const one = plan.find("Copy")?.part ?? "";
    const later = new ArtifactText("intro\n1. Stop the importer.\n   Wait for it.\nend");
    expect([later.holds(two), later.holds(one)]).toEqual([true, false]);
    for (const odd of ["", "0:", "x", "-1:ab", "999999:ab"]) expect(later.holds(odd)).toBe(false);
  });
});

describe("an id", () => {
  const idOf = (text: ArtifactText, aspect: string, quote: string) =>
    idFor(aspect, text.find(quote) ?? { line: "", part: "" });

  test("follows from the aspect and the line, however much of the line is quoted", () => {
    expect(idOf(plan, "Safety", "importer")).toBe(idOf(plan, "safety", "1. Stop the importer."));
    expect(idOf(plan, "safety", "importer")).not.toBe(idOf(plan, "clarity", "importer"));
    expect(idOf(plan, "safety", "importer")).not.toBe(idOf(plan, "safety", "Copy"));
  });

  test("follows from what is quoted where all stands in one line", () => {
    const long = new ArtifactText(`${"alpha beta ".repeat(50)} gamma ${"delta ".repeat(50)}`);
    expect(idOf(long, "style", "gamma")).not.toBe(idOf(long, "style", "delta delta"));
  });

  test.each(["", "??", "Fehlerbehandlung für Änderungen", "x".repeat(500), "a b/c\u0000d", "日本語"])(
    "is of the form that the protocol asks for, with the aspect %j",
    (aspect) => {
      expect(idOf(plan, aspect, "Copy")).toMatch(REMARK_ID);
    },
  );
});
