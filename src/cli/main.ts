import { CommanderError } from "commander";
import { FileError } from "../formats/text/file-error.ts";
import { AppError } from "../protocol/errors.ts";
import { withoutJsonFile } from "./files/json-file-flag.ts";
import { type Io, processIo } from "./output/io.ts";
import { printable } from "./output/printable.ts";
import type { AnyCommand, Call, Flag, Flags, FlagValues } from "./program/command.ts";
import { COMMANDS, GROUPS } from "./program/commands.ts";
import { appErrorLine, errorLine, fileErrorLine } from "./program/error-line.ts";
import { EXIT, exitCodeOf } from "./program/exit-codes.ts";
import { createProgram, Misuse, type ParsedCall } from "./program/program.ts";
import {
  type ConfigSources,
  coloursWanted,
  defaultConfig,
  type Environment,
  isSetAnywhere,
  loadConfig,
  ownEnvironment,
} from "./settings/config.ts";
import type { Config, SettingName } from "./settings/settings.ts";
import { unknownVariables, variablesIn } from "./settings/unknown-variables.ts";
import { packageVersion } from "./version.ts";

/** The world around the command line; tests bring their own. */
export interface World {
  readonly io: Io;
  readonly env?: Environment;
  readonly cwd?: string;
  readonly stopped?: Call["stopped"];
}

/** Parses, acts, and turns whatever happens into an exit code. The one place where the command line catches errors. */
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
    complain(shown, argv, io);
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

async function act(parsed: ParsedCall, world: World): Promise<number | undefined> {
  const { spec, args, settings, json } = parsed;
  const config = configOf(parsed, world);
  if (spec.settings.length > 0) warnOfVariables(config, world);
  const given = new Set(Object.keys(settings) as SettingName[]);
  const isSet = (name: SettingName) => isSetAnywhere(name, sourcesOf(parsed, world));
  const doIt = await spec.load();
  const { io, stopped } = world;
  return doIt({ args, flags: withDefaults(spec.flags, parsed.flags), json, config, given, isSet, io, stopped });
}

function warnOfVariables({ reviewModelKeyEnv, agents }: Config, { io, env = ownEnvironment() }: World): void {
  const named = [reviewModelKeyEnv, ...variablesIn(agents)];
  for (const warning of unknownVariables(env, named)) io.err(`assay: warning: ${printable(warning)}`);
}

/** A command without settings looks at none, so a broken config file cannot stand in its way. */
function configOf(parsed: ParsedCall, world: World): Config {
  return parsed.spec.settings.length === 0 ? defaultConfig() : loadConfig(sourcesOf(parsed, world));
}

function sourcesOf({ settings, configFile }: ParsedCall, { env, cwd }: World): ConfigSources {
  return {
    flags: settings,
    file: configFile,
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  };
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

/** Commander's complaint as one of ours: unknown commands and flags, missing and superfluous arguments. */
function usageError({ message }: CommanderError): AppError {
  const problem = message
    .replace(/^error: /, "")
    .replace(/\n\((Did you mean .*?\?)\)/s, ". $1")
    .replace(/[.?]$/, (end) => (end === "?" ? "?" : ""));
  return new AppError("unusable_input", { problem });
}

function isCallOf({ name }: AnyCommand, argv: readonly string[]): boolean {
  return name.split(" ").every((word, i) => argv[i] === word);
}

function complain(error: unknown, argv: readonly string[], io: Io): void {
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
  // A bug: whoever reports it needs all of it.
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.err(errorLine({ error: "internal_error", message: `unexpected failure. ${stack}`, details: {} }, json));
}
