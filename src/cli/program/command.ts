import type { Io } from "../output/io.ts";
import type { Config, SettingName } from "../settings/settings.ts";

/**
 * What the parser, the help texts and `docs/cli.md` know of a command. The rows are light: the code of a command is loaded when it is
 * called, so that `assay --help` does not wait for a server that it does not start.
 */
export interface CommandSpec<F extends Flags = NoFlags> {
  /** `run start`: the last word is the command, the words before it are its groups. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** More, when the summary does not say enough. */
  readonly about?: string;
  readonly args: readonly Arg[];
  readonly flags: F;
  /** Rows of the settings table that this command takes as flags. */
  readonly settings: readonly SettingName[];
  readonly examples: readonly string[];
  /** The meaning of its exit codes where it is not plain from the common table. */
  readonly exits?: Readonly<Record<number, string>>;
  /**
   * For a command that stands in for another program: the exit code of that program for a call that cannot be understood, which is
   * answered with the usage.
   */
  readonly misuseExit?: number;
  /** The exit code, 0 when nothing is returned. */
  readonly load: () => Promise<(call: Call<F>) => Promise<number | undefined>>;
}

export interface Arg {
  /** In capitals, as in the help text. */
  readonly name: string;
  readonly summary: string;
  readonly optional?: true;
  /** Takes all that remain, at least one unless optional. */
  readonly many?: true;
}

export type Flag = FlagRow &
  (
    | { readonly type: "switch" }
    | { readonly type: "text"; readonly value: string; readonly choices?: readonly string[] }
    | { readonly type: "integer"; readonly value: string; readonly min: number }
    /** May be given more than once. */
    | { readonly type: "list"; readonly value: string }
  );

interface FlagRow {
  readonly summary: string;
  /** One letter that stands for it, only where another program has it so. */
  readonly short?: string;
}

/** The rows of flags, by their types. `value` is the name of the value in help texts. */
export const toggle = (summary: string) => ({ type: "switch", summary }) as const;
export const text = (value: string, summary: string) => ({ type: "text", value, summary }) as const;
export const list = (value: string, summary: string) => ({ type: "list", value, summary }) as const;
export const integer = (value: string, min: number, summary: string) =>
  ({ type: "integer", value, min, summary }) as const;
export const choice = <const C extends readonly string[]>(value: string, choices: C, summary: string) =>
  ({ type: "text", value, choices, summary }) as const;

export type Flags = Readonly<Record<string, Flag>>;
export type NoFlags = Readonly<Record<never, Flag>>;

export type FlagValues<F extends Flags> = {
  readonly [K in keyof F]: F[K] extends { type: "switch" }
    ? boolean
    : F[K] extends { type: "list" }
      ? readonly string[]
      : F[K] extends { type: "integer" }
        ? number | undefined
        : F[K] extends { choices: readonly (infer Choice)[] }
          ? Choice | undefined
          : string | undefined;
};

export interface Call<F extends Flags = NoFlags> {
  readonly args: readonly string[];
  readonly flags: FlagValues<F>;
  /** `--json`: results as JSON. Every command takes it. */
  readonly json: boolean;
  readonly config: Config;
  /** The settings that were given as flags of this call. */
  readonly given: ReadonlySet<SettingName>;
  /** Whether a setting was given: as a flag, in the environment or in the file. */
  isSet(name: SettingName): boolean;
  readonly io: Io;
  /**
   * Ends a command that serves, in place of a signal. The command then logs to `io` and leaves the process alone: its signals, and
   * the errors that are caught nowhere.
   */
  readonly stopped?: Promise<NodeJS.Signals> | undefined;
}

/** Settings of every command that talks to a server. */
export const CLIENT: readonly SettingName[] = ["url", "key", "timeoutMs"];

/** Settings of every command that opens the database itself. */
export const DATABASE: readonly SettingName[] = ["data", "databaseUrl"];

export const RUN: Arg = { name: "RUN", summary: "The id of a run, as `run start` and `run list` print it." };

/** The exit codes of commands that follow a run to its end. */
export const RUN_EXITS = { 0: "the run completed", 1: "the run failed or was cancelled" };

type Row<F extends Flags> = Omit<CommandSpec<F>, "args" | "flags" | "settings"> &
  Partial<Pick<CommandSpec<F>, "args" | "settings">>;

/**
 * A row of the table of commands: without arguments and flags, and with the settings of a client, unless given. The type checker makes
 * sure that the function it loads takes the flags of the row.
 */
export function command<F extends Flags>(row: Row<F> & { readonly flags: F }): CommandSpec<F>;
export function command(row: Row<NoFlags>): CommandSpec;
export function command(row: Row<Flags>): CommandSpec<Flags> {
  return { args: [], flags: {}, settings: CLIENT, ...row };
}

/** A row in a list of commands, whatever its flags are. */
// biome-ignore lint/suspicious/noExplicitAny: the flags of one command are of no interest to another.
export type AnyCommand = CommandSpec<any>;
