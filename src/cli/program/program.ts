import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { Setting } from "../settings/setting.ts";
import { defaultText, environmentNameOf, flagOf, kebab, type SettingName, settingNamed } from "../settings/settings.ts";
import type { AnyCommand, Flag } from "./command.ts";

/** A command line taken apart; its values have not been checked or used yet. */
export interface ParsedCall {
  readonly spec: AnyCommand;
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Partial<Record<SettingName, unknown>>>;
  readonly json: boolean;
  readonly configFile: string | undefined;
}

interface ProgramDeps {
  readonly commands: readonly AnyCommand[];
  readonly groups: Readonly<Record<string, string>>;
  readonly version: string;
  /** Called with the parsed call: tests of the parser put a stand-in here. */
  act(call: ParsedCall): Promise<void>;
  /** Help texts go here; errors are thrown. */
  write(text: string): void;
}

export function createProgram({ commands, groups, version, act, write }: ProgramDeps): Command {
  const program = prepare(new Command("assay"), write)
    .description("Assay: the judgment layer for agent work. An OpenWOP host in one process and one file.")
    .version(version, "-v, --version", "print the version")
    .addHelpText("after", "\nStart with `assay serve`; every command explains itself with --help.");
  const parents = new Map<string, Command>();
  const parentOf = (words: readonly string[]): Command => {
    const name = words.join(" ");
    if (words.length === 0) return program;
    const known = parents.get(name);
    if (known) return known;
    const parent = prepare(new Command(words.at(-1)), write).description(groups[name] ?? "");
    parents.set(name, parent);
    parentOf(words.slice(0, -1)).addCommand(parent);
    return parent;
  };
  for (const spec of commands) {
    const words = spec.name.split(" ");
    parentOf(words.slice(0, -1)).addCommand(build(spec, words.at(-1) ?? "", act, write));
  }
  return program;
}

function prepare(command: Command, write: (text: string) => void): Command {
  return command
    .exitOverride()
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .configureHelp({ subcommandTerm })
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {}, getOutHelpWidth: helpWidth });
}

/** Narrower than this, the descriptions of long flags would not be wrapped at all. */
const NARROWEST = 100;

function helpWidth(): number {
  return Math.max(NARROWEST, process.stdout.columns ?? 0);
}

function subcommandTerm(command: Command): string {
  return [
    command.name(),
    ...command.registeredArguments.map((one) => (one.required ? one.name() : `[${one.name()}]`)),
  ].join(" ");
}

function build(spec: AnyCommand, word: string, act: ProgramDeps["act"], write: (text: string) => void): Command {
  const command = prepare(new Command(word), write)
    .summary(spec.summary)
    .description(spec.about === undefined ? spec.summary : `${spec.summary}\n\n${spec.about}`);
  for (const { name, summary, optional, many } of spec.args) {
    const shown = many ? `${name}...` : name;
    command.argument(optional ? `[${shown}]` : `<${shown}>`, summary);
  }
  for (const [name, flag] of Object.entries(spec.flags as Record<string, Flag>)) command.addOption(option(name, flag));
  // Help shows groups in the order of their first option: flags of the command come before settings.
  command.option("--json", "print the result as JSON");
  for (const name of spec.settings) for (const one of settingOptions(name)) command.addOption(one);
  if (spec.settings.length > 0) command.option("--config <FILE>", "settings to read; else assay.config.json, if any");
  command.addHelpText("after", helpTail(spec));
  const { misuseExit } = spec;
  if (misuseExit !== undefined) {
    command.exitOverride((error) => {
      throw error.exitCode === 0 ? error : new Misuse(misuseExit, `${error.message}\n\n${command.helpInformation()}`);
    });
  }
  return command.action(async () => {
    const given = givenBy(command);
    await act({
      spec,
      args: command.args,
      flags: pick(given, Object.keys(spec.flags)),
      settings: pick(given, spec.settings),
      json: given["json"] === true,
      configFile: given["config"] as string | undefined,
    });
  });
}

/** The words of a call of this command that belong to no flag. Nothing is checked. */
export function operandsOf(spec: AnyCommand, words: readonly string[]): string[] {
  const none = () => undefined;
  return build(spec, spec.name, async () => undefined, none).parseOptions([...words]).operands;
}

/** A call that cannot be understood, of a command that stands in for another program and fails as that does. */
export class Misuse extends CommanderError {
  constructor(exitCode: number, usage: string) {
    super(exitCode, "assay.misuse", usage);
  }
}

/** As in `-s, --session`. */
export function flagNames(name: string, { short }: Flag): string {
  return short === undefined ? `--${kebab(name)}` : `-${short}, --${kebab(name)}`;
}

function option(name: string, flag: Flag): Option {
  const long = flagNames(name, flag);
  if (flag.type === "switch") return new Option(long, flag.summary);
  const made = new Option(`${long} <${flag.value}>`, flag.summary);
  if (flag.type === "list") return made.argParser(collect);
  if (flag.type === "integer") return made.argParser((text) => parseCount(text, flag.min));
  if (flag.choices) {
    const { choices } = flag;
    made.argParser((text) => {
      if (!choices.includes(text)) throw new InvalidArgumentError(`Use one of ${choices.join(", ")}.`);
      return text;
    });
  }
  return made;
}

/** A switch can be turned either way, because the file or the environment may have turned it already. */
function settingOptions(name: SettingName): Option[] {
  const setting = settingNamed(name);
  const summary = setting.type === "flag" && setting.default ? setting.off : setting.summary;
  const choices = "choices" in setting ? ` One of ${setting.choices.join(", ")}.` : "";
  const described = `${summary}${choices} (${environmentNameOf(name)}, default: ${defaultText(setting)})`;
  const long = flagOf(name);
  const group = `${setting.group}:`;
  if (setting.type === "flag") {
    const other = setting.default ? long.replace("--no-", "--") : long.replace("--", "--no-");
    return [new Option(long, described).helpGroup(group), new Option(other).helpGroup(group).hideHelp()];
  }
  const made = new Option(`${long} <${setting.value ?? "VALUE"}>`, described).helpGroup(group);
  return [LISTS.has(setting.type) ? made.argParser(collect) : made];
}

const LISTS: ReadonlySet<Setting["type"]> = new Set(["paths", "names", "reviewers"]);

function collect(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}

function parseCount(text: string, min: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new InvalidArgumentError(`Use a whole number of at least ${min}.`);
}

/** Only the options of the command line: defaults of commander would hide the file and the environment. */
function givenBy(command: Command): Record<string, unknown> {
  const options = Object.entries(command.opts<Record<string, unknown>>());
  const given = options.filter(([name]) => command.getOptionValueSource(name) === "cli");
  // Commander knows `--no-retry` as a retry that is false; a command that has no `--retry` knows it by its own name.
  const negated = given.filter(([, value]) => value === false).map(([name]) => [`no${capitalised(name)}`, true]);
  return Object.fromEntries([...given, ...negated]);
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function pick(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
}

function helpTail({ examples, exits }: AnyCommand): string {
  const lines = ["", "Examples:", ...examples.map((example) => `  ${example}`)];
  if (exits) lines.push("", "Exit codes:", ...Object.entries(exits).map(([code, meaning]) => `  ${code}  ${meaning}`));
  return lines.join("\n");
}
