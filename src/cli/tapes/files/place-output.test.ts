import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesIn } from "../../../testing/bundle-bench.ts";
import { tempDir } from "../../../testing/temp-dir.ts";
import { moveAll } from "./place-output.ts";

/** A folder of drafts, and one in which some of it is there already. */
function bench() {
  const [draft, to] = [tempDir(), tempDir()];
  const write = (folder: string, name: string, content: string) => {
    mkdirSync(join(folder, `${name}/..`), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  write(draft, "run.tape.cas/a", "new body");
  write(draft, "run.tape", "new");
  write(to, "run.tape.cas/b", "old body");
  write(to, "run.tape", "old");
  write(to, "other", "stays");
  const move = (...names: string[]) => {
    const moves = names.map((name) => ({ from: join(draft, name), to: join(to, name) }));
    return moveAll(moves, draft);
  };
  return { to, move };
}

test("files and folders take the place of what is there", () => {
  const { to, move } = bench();
  move("run.tape.cas", "run.tape");
  expect(filesIn(to)).toEqual({ "run.tape.cas/a": "new body", "run.tape": "new", other: "stays" });
});

test("what has no successor only goes", () => {
  const { to } = bench();
  moveAll([{ to: join(to, "run.tape.cas") }, { to: join(to, "nothing") }], tempDir());
  expect(filesIn(to)).toEqual({ "run.tape": "old", other: "stays" });
});

test("when one cannot be moved, everything is as it was", () => {
  const { to, move } = bench();
  const before = filesIn(to);
  expect(() => move("run.tape.cas", "run.tape", "nothing")).toThrow("ENOENT");
  expect(filesIn(to)).toEqual(before);
});

test("a folder does not give way to a file, and everything is as it was", () => {
  const { to, move } = bench();
  rmSync(join(to, "run.tape"));
  mkdirSync(join(to, "run.tape"));
  writeFileSync(join(to, "run.tape", "precious"), "untouched");
  const before = filesIn(to);
  expect(() => move("run.tape.cas", "run.tape")).toThrow("EISDIR");
  expect(filesIn(to)).toEqual(before);
});
