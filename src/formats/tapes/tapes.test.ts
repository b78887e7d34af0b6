import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import * as entryPoint from "./tapes.ts";

const SRC = fileURLToPath(new URL("../..", import.meta.url));

/** The commands that do nothing but read files and write others. */
const COMMANDS = [
  "anchors",
  "candidates",
  "diff",
  "export",
  "grade",
  "normalize",
  "present",
  "show",
  "suggest",
  "validate",
];

/** What only commands need: the secrets of a process, and files that are read and written at once. */
const ONLY_IN_COMMANDS = ["redactRow", "SidecarReader", "sidecarUnreadable"];

interface Import {
  readonly path: string;
  /** Without types, which leave no trace. */
  readonly names: readonly string[];
}

function importsOf(path: string): Import[] {
  const source = readFileSync(`${SRC}${path}`, "utf8");
  const statement = /^(?:import|export) (type )?(?:\{([^}]*)\}|\* as \w+) from "([^"]+)"/gm;
  return [...source.matchAll(statement)]
    .filter(([, type]) => type === undefined)
    .map(([, , names = "", from = ""]) => ({
      path: from.startsWith(".") ? posix.join(posix.dirname(path), from) : from,
      names: names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && !name.startsWith("type ")),
    }));
}

describe("the entry point to tapes", () => {
  test.each(COMMANDS)("offers what `assay tape %s` takes from the formats", (command) => {
    const taken = importsOf(`cli/tapes/${command}.ts`)
      .filter(({ path }) => /^formats\/tapes\//.test(path))
      .flatMap(({ names }) => names)
      .filter((name) => !ONLY_IN_COMMANDS.includes(name));
    expect(taken.filter((name) => !Object.hasOwn(entryPoint, name))).toEqual([]);
  });

  test("leads to nothing but formats, what they are made of, and one package without Node", () => {
    const reached = new Set(["formats/tapes/tapes.ts"]);
    for (const path of reached) {
      if (path.endsWith(".ts")) for (const next of importsOf(path)) reached.add(next.path);
    }
    const others = [...reached].filter((path) => !/^(formats|protocol|statistics)\/.*\.ts$/.test(path));
    expect(others).toEqual(["hash-wasm"]);
    const reaching = [...reached].filter((path) => path.endsWith(".ts"));
    expect(reaching.length).toBeGreaterThan(20);
    expect(
      reaching.filter((path) => /"node:|\bBuffer\.|\bprocess\.\w/.test(readFileSync(`${SRC}${path}`, "utf8"))),
    ).toEqual([]);
  });
});
