import { basename } from "node:path";
import { DEFAULT_AGENT } from "../reviewer.ts";

/** A program that answers requests, and what it is called with. */
export interface CommandLine {
  readonly program: string;
  /** Arguments before all others. */
  readonly args: readonly string[];
  readonly agent: string;
  /** Whether it supports `--dir` and `--title`, as the real command does. */
  readonly takes_directory: boolean;
}

export const REAL_COMMAND = "opencode";

export interface ChosenCommand {
  readonly program?: string | undefined;
  readonly args: readonly string[];
  readonly agent?: string | undefined;
  readonly takes_directory?: boolean;
}

/** The command line; the real command by default. Other programs get only arguments that they are sure to support. */
export function commandLine({
  program = REAL_COMMAND,
  args,
  agent = DEFAULT_AGENT,
  takes_directory,
}: ChosenCommand): CommandLine {
  const isReal = basename(program).replace(/\.(exe|cmd)$/, "") === REAL_COMMAND;
  return {
    program,
    args: isReal && args.length === 0 ? ["run"] : args,
    agent,
    takes_directory: takes_directory === true || isReal,
  };
}

export interface CalledWith {
  readonly directory: string;
  readonly title: string;
  readonly session: string | undefined;
}

/** A list, never a line for a shell. */
export function commandArguments(command: CommandLine, { directory, title, session }: CalledWith): string[] {
  return [
    ...command.args,
    ...["--agent", command.agent, "--format", "json"],
    ...(command.takes_directory ? ["--dir", directory, "--title", title] : []),
    ...(session === undefined ? [] : ["--session", session]),
  ];
}

/** A copy of the session was asked for, so another one comes back. */
export function isForked({ args }: CommandLine): boolean {
  return args.includes("--fork");
}
