import { describe, expect, test } from "vitest";
import { COMMANDS, GROUPS } from "./commands.ts";
import { createProgram, type ParsedCall } from "./program.ts";

/** Parses with a stand-in for doing. */
async function parse(...argv: string[]): Promise<Omit<ParsedCall, "spec"> & { name: string }> {
  let parsed: ParsedCall | undefined;
  const program = createProgram({
    commands: COMMANDS,
    groups: GROUPS,
    version: "1.2.3",
    write: () => {},
    act: async (call) => {
      parsed = call;
    },
  });
  await program.parseAsync(argv, { from: "user" });
  if (!parsed) throw new Error("nothing was called");
  const { spec, ...call } = parsed;
  return { ...call, name: spec.name };
}

describe("a command line", () => {
  test("becomes a command with its arguments, flags and settings", async () => {
    const argv = "run start greet --input a=1 --input b=2 --tag x --watch --json --url http://h:1 --config c.json";
    expect(await parse(...argv.split(" "))).toEqual({
      name: "run start",
      args: ["greet"],
      flags: { input: ["a=1", "b=2"], tag: ["x"], watch: true },
      settings: { url: "http://h:1" },
      json: true,
      configFile: "c.json",
    });
  });

  test("leaves what it does not mention to the file, the environment and the defaults", async () => {
    expect(await parse("serve")).toMatchObject({ name: "serve", flags: {}, settings: {}, json: false });
  });

  test("turns switches off and on", async () => {
    expect((await parse("serve", "--no-worker", "--strict")).settings).toEqual({ worker: false, strict: true });
    expect((await parse("serve", "--worker", "--no-strict")).settings).toEqual({ worker: true, strict: false });
  });

  test("repeats what may be repeated", async () => {
    const { settings } = await parse("serve", "--workflows", "a", "--workflows", "b", "--disable", "x,y");
    expect(settings).toEqual({ workflows: ["a", "b"], disable: ["x,y"] });
    expect((await parse("run", "cancel", "r1", "r2", "r3")).args).toEqual(["r1", "r2", "r3"]);
  });

  test.each([
    [["srve"], /unknown command 'srve'\n\(Did you mean serve\?\)/],
    [["run", "strat"], /unknown command 'strat'\n\(Did you mean start\?\)/],
    [["serve", "--prot", "1"], /unknown option '--prot'\n\(Did you mean --port\?\)/],
    [["run", "show"], /missing required argument 'RUN'/],
    [["run", "show", "a", "b"], /too many arguments/],
    [["run", "list", "--limit", "0"], /whole number of at least 1/],
    [["run", "pause", "r", "--drain", "never"], /Use one of drain-current-node, immediate/],
    [["whoami", "--port", "1"], /unknown option '--port'/],
  ])("with a mistake, %j, is refused", async (argv, message) => {
    await expect(parse(...argv)).rejects.toThrow(message);
  });
});

describe("the table of commands", () => {
  test.each(COMMANDS.map((spec) => [spec.name, spec] as const))("has %s whole", async (_, spec) => {
    expect(spec.summary).toMatch(/^[A-Z].*\.$/);
    expect(spec.examples.length).toBeGreaterThan(0);
    for (const example of spec.examples) expect(example).toMatch(new RegExp(`^assay ${spec.name}\\b`));
    expect(await spec.load()).toBeTypeOf("function");
  });

  test("has every group explained", () => {
    const groups = COMMANDS.flatMap(({ name }) => {
      const words = name.split(" ");
      return words.slice(1).map((_, i) => words.slice(0, i + 1).join(" "));
    });
    expect([...new Set(groups)]).toEqual(Object.keys(GROUPS));
  });

  test("has no flag that is also a setting of the same command", () => {
    for (const { flags, settings } of COMMANDS) {
      expect(Object.keys(flags).filter((name) => settings.includes(name as never))).toEqual([]);
    }
  });

  test("has examples that parse", async () => {
    for (const example of COMMANDS.flatMap(({ examples }) => examples)) {
      const [, ...argv] = example.replace(/ > .*$/, "").match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
      await expect(parse(...argv.map((word) => word.replace(/^(['"])(.*)\1$/, "$2"))), example).resolves.toBeDefined();
    }
  });
});
