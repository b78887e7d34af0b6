import { CommanderError } from "commander";
import { FileError } from "../formats/text/file-error.ts";
import { AppError, unusableInput } from "../protocol/errors.ts";
import { evalRun } from "./evals/commands.ts";
import { type Io, processIo } from "./output/io.ts";
import { printable } from "./output/printable.ts";
import { packageVersion } from "./paths.ts";
import type { AnyCommand, Call, Flag, Flags, FlagValues } from "./program/command.ts";
import { COMMANDS, GROUPS } from "./program/commands.ts";
import { appErrorLine, errorLine, fileErrorLine } from "./program/error-line.ts";
import { EXIT, exitCodeOf } from "./program/exit-codes.ts";
import { createProgram, Misuse, operandsOf, type ParsedCall } from "./program/program.ts";
import {
  coloursWanted,
  defaultConfig,
  type Environment,
  isSetAnywhere,
  loadConfig,
  ownEnvironment,
  unknownVariables,
  variablesIn,
} from "./settings/config.ts";
import type { Config, SettingName } from "./settings/settings.ts";

/** The surroundings of the command line; tests bring their own. */
export interface World {
  readonly io: Io;
  readonly env?: Environment;
  readonly cwd?: string;
  readonly stopped?: Call["stopped"];
}

/** Parses, acts, and turns the result into an exit code. The one place where the command line catches errors. */
export async function main(
  typed: readonly string[],
  world: World = { io: processIo(coloursWanted()) },
): Promise<number> {
  const { io } = world;
  const argv = withoutJsonFile(typed, io);
  try {
    return await run(argv, world);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.fine;
    if (error instanceof Misuse) {
      io.err(error.message.trimEnd());
      return error.exitCode;
    }
    const shown = error instanceof CommanderError ? usageError(error) : error;
    printError(shown, argv, io);
    return exitCodeOf(shown);
  }
}

async function run(argv: readonly string[], world: World): Promise<number> {
  let exitCode: number = EXIT.fine;
  const program = createProgram({
    commands: COMMANDS,
    groups: GROUPS,
    version: packageVersion(),
    write: (text) => world.io.out(text.trimEnd()),
    act: async (call) => {
      exitCode = (await act(call, world)) ?? EXIT.fine;
    },
  });
  await program.parseAsync(helpForGroups(argv), { from: "user" });
  return exitCode;
}

async function act(parsed: ParsedCall, { io, stopped, env, cwd }: World): Promise<number | undefined> {
  const { spec, args, settings, json } = parsed;
  const sources = { flags: settings, file: parsed.configFile, env, cwd };
  // A command without settings reads none, so a broken config file does not stop it.
  const config = spec.settings.length === 0 ? defaultConfig() : loadConfig(sources);
  if (spec.settings.length > 0) warnOfVariables(config, io, env);
  const given = new Set(Object.keys(settings) as SettingName[]);
  const isSet = (name: SettingName) => isSetAnywhere(name, sources);
  const flags = withDefaults(spec.flags, parsed.flags);
  const doIt = await spec.load();
  return doIt({ args, flags, json, config, given, isSet, io, stopped });
}

function warnOfVariables({ reviewModelKeyEnv, agents }: Config, io: Io, env: Environment = ownEnvironment()): void {
  const named = [reviewModelKeyEnv, ...variablesIn(agents)];
  for (const warning of unknownVariables(env, named)) io.err(`assay: warning: ${printable(warning)}`);
}

function withDefaults(flags: Flags, given: Readonly<Record<string, unknown>>): FlagValues<Flags> {
  const absent = (flag: Flag) => (flag.type === "switch" ? false : flag.type === "list" ? [] : undefined);
  const entries = Object.entries(flags).map(([name, flag]) => [name, given[name] ?? absent(flag)]);
  return Object.fromEntries(entries);
}

/** `assay`, `assay run` alone and `assay help run` are questions, not mistakes. */
function helpForGroups(argv: readonly string[]): string[] {
  const [first, ...rest] = argv;
  if (first === "help") return [...rest, "--help"];
  const isQuestion = first === undefined || Object.hasOwn(GROUPS, argv.join(" "));
  return isQuestion ? [...argv, "--help"] : [...argv];
}

/** An error of commander as one of ours: unknown commands and flags, missing and superfluous arguments. */
function usageError({ message }: CommanderError): AppError {
  const problem = message
    .replace(/^error: /, "")
    .replace(/\n\((Did you mean .*?\?)\)/s, ". $1")
    .replace(/[.?]$/, (end) => (end === "?" ? "?" : ""));
  return unusableInput(problem);
}

function isCallOf({ name }: AnyCommand, argv: readonly string[]): boolean {
  return name.split(" ").every((word, i) => argv[i] === word);
}

function printError(error: unknown, argv: readonly string[], io: Io): void {
  const json = argv.includes("--json");
  if (error instanceof FileError) {
    io.err(fileErrorLine(error, json, io.errIsTerminal));
    return;
  }
  if (error instanceof AppError) {
    const called = COMMANDS.find((spec) => isCallOf(spec, argv));
    io.err(appErrorLine(error, json, Object.keys(called?.flags ?? {})));
    return;
  }
  // A bug: its report needs the stack.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.err(errorLine({ error: "internal_error", message: `unexpected failure. ${stack}`, details: {} }, json));
}

/**
 * `eval run --json FILE` of version 0.1 as `eval run --output FILE`, with a warning. `--json` is a switch, so a word after it is a
 * file only where the call has its SUITE without that word. To be removed with the next version.
 */
function withoutJsonFile(argv: readonly string[], io: Io): readonly string[] {
  if (!isCallOf(evalRun, argv)) return argv;
  const at = argv.findIndex((word, i) => /^--json(=|$)/.test(word) && argv[i - 1] !== "--arg");
  const word = argv[at];
  if (word === undefined) return argv;
  const rest = argv.slice(at + 1);
  const file = word === "--json" ? fileAfter(argv, rest) : word.slice("--json=".length);
  if (file === undefined) return argv;
  io.err("assay: `eval run --json FILE` will not work in the next version; write the file with --output FILE.");
  return [...argv.slice(0, at), "--output", file, ...(word === "--json" ? rest.slice(1) : rest)];
}

function fileAfter(argv: readonly string[], [next]: readonly string[]): string | undefined {
  if (next === undefined || next.startsWith("-")) return undefined;
  const words = argv.slice(evalRun.name.split(" ").length);
  return operandsOf(evalRun, words).length > evalRun.args.length ? next : undefined;
}
