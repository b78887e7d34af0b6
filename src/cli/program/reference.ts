import { SETTING_GROUPS, type Setting, type SettingGroup } from "../settings/setting.ts";
import {
  defaultText,
  environmentNameOf,
  flagOf,
  SETTING_NAMES,
  type SettingName,
  settingNamed,
} from "../settings/settings.ts";
import type { AnyCommand, Flag } from "./command.ts";
import { COMMANDS, GROUPS } from "./commands.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { flagNames } from "./program.ts";

const GENERATED = "<!-- Made by `npm run docs` from the tables in src/cli; a test fails when it is out of date. -->";

/** The text of `docs/cli.md`. */
export function cliReference(): string {
  return `${[
    GENERATED,
    "# Command line",
    "In a checkout the program is `npx assay`. `assay --help` shows the commands, `assay COMMAND --help` all about one. Results go to standard output, errors " +
      "and hints to standard error; colours and progress appear on a terminal only, and never with `NO_COLOR`. Every " +
      "command takes `--json`, which prints the result as one JSON value (`run watch`: one per line).",
    "Every error of every command has one form on standard error: `error: MESSAGE`, and with `--json` the object " +
      "`{ error, message, details }`, where `error` is a stable code. Standard output then has nothing but what was printed before. Errors about tapes and " +
      "sidecars have the words and the exit code 1 that their [formats](formats/tape.md) prescribe, in the same form. Remarks and warnings begin with `assay: `.",
    "## Exit codes",
    table(
      ["Code", "Meaning"],
      Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning]),
    ),
    ...COMMANDS.flatMap(commandSection),
  ].join("\n\n")}\n`;
}

function commandSection(spec: AnyCommand, i: number): string[] {
  const [group = "", word] = spec.name.split(" ");
  const isFirst = word !== undefined && !COMMANDS[i - 1]?.name.startsWith(`${group} `);
  const flags = Object.entries(spec.flags as Readonly<Record<string, Flag>>);
  return [
    ...(isFirst ? [`## assay ${group}`, GROUPS[group] ?? ""] : []),
    `${word === undefined ? "##" : "###"} assay ${spec.name}`,
    spec.summary,
    ...(spec.about === undefined ? [] : [spec.about]),
    codeBlock([usageOf(spec)]),
    ...(spec.args.length + flags.length === 0
      ? []
      : [
          table(
            ["Argument", "Meaning"],
            [
              ...spec.args.map(({ name, summary }) => [code(name), summary]),
              ...flags.map(([name, flag]) => [code(flagText(name, flag)), flag.summary]),
            ],
          ),
        ]),
    ...(spec.settings.length === 0 ? [] : [settingsLine(spec.settings)]),
    ...(spec.exits ? [`Exit codes: ${exitsText(spec.exits)}.`] : []),
    codeBlock(spec.examples),
  ];
}

function usageOf(spec: AnyCommand): string {
  const args = spec.args.map(({ name, many, optional }) => {
    const shown = many ? `${name}...` : name;
    return optional ? `[${shown}]` : shown;
  });
  return ["assay", spec.name, ...args, "[options]"].join(" ");
}

function flagText(name: string, flag: Flag): string {
  return flag.type === "switch" ? flagNames(name, flag) : `${flagNames(name, flag)} ${flag.value}`;
}

/** A group that a command takes as a whole is named instead of listed. */
function settingsLine(settings: readonly SettingName[]): string {
  const links = SETTING_GROUPS.flatMap((group) => {
    const all = namesIn(group);
    const taken = all.filter((name) => settings.includes(name));
    const isWhole = taken.length === all.length;
    return isWhole ? [`all of [${group}](configuration.md#${group.toLowerCase()})`] : taken.map((n) => code(flagOf(n)));
  });
  return `[Settings](configuration.md): ${links.join(", ")}.`;
}

function namesIn(group: SettingGroup): SettingName[] {
  return SETTING_NAMES.filter((name) => settingNamed(name).group === group);
}

function exitsText(exits: Readonly<Record<number, string>>): string {
  return Object.entries(exits)
    .map(([number, meaning]) => `${code(number)} ${meaning}`)
    .join("; ");
}

/** The text of `docs/configuration.md`. */
export function settingsReference(): string {
  const headings = ["Setting", "Flag", "Environment", "Default", "Meaning"];
  const sections = SETTING_GROUPS.flatMap((group) => [`## ${group}`, table(headings, namesIn(group).map(settingRow))]);
  return `${[
    GENERATED,
    "# Settings",
    "A setting has one name and four places: its default, then `assay.config.json` in the working directory (or the " +
      "file named by `--config` or `ASSAY_CONFIG`), then the environment, then the flag. The later wins. They are " +
      "checked once, all together, before anything starts; what is unknown or out of range is named, and the exit " +
      "code is 2. A variable that begins with `ASSAY_` and is no setting is only warned of, with the nearest name: it may " +
      "be meant for another version.",
    "In the file, a setting is a key with a JSON value. Paths in it are relative to the file; elsewhere they are " +
      "relative to the working directory. Lists are JSON arrays in the file, comma-separated in the environment, and " +
      "either comma-separated or repeated as flags. Switches are `true` or `false`; `--no-…` and the flag without " +
      "`no-` turn them either way.",
    codeBlock(['{ "port": 8080, "workflows": ["workflows"], "rateLimit": 50 }'], "json"),
    ...sections,
  ].join("\n\n")}\n`;
}

function settingRow(name: SettingName): string[] {
  const setting = settingNamed(name);
  const value = setting.value === undefined ? "" : ` ${setting.value}`;
  const flag = code(`${flagOf(name)}${value}`);
  return [
    code(name),
    flag,
    code(environmentNameOf(name)),
    defaultText(setting),
    `${setting.summary}${choices(setting)}`,
  ];
}

function choices(setting: Setting): string {
  return setting.type === "choice" || setting.type === "names"
    ? ` One of ${setting.choices.map(code).join(", ")}.`
    : "";
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(headings), `|${headings.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

function codeBlock(lines: readonly string[], language = ""): string {
  return `\`\`\`${language}\n${lines.join("\n")}\n\`\`\``;
}
