import type { AppError } from "../protocol/errors.ts";

/**
 * The message of an error in the words of the command line. The server speaks to every client, so it names routes and fields; a
 * reader of this program's output needs commands and flags.
 */
export function cliWords({ code, details, message }: AppError, flags: readonly string[] = []): string {
  const said = PHRASES.reduce((text, [phrase, instead]) => text.replace(phrase, instead), message).replace(
    /\bquery\/(\w+)/g,
    (field, name: string) => flagFor(name, flags) ?? field,
  );
  const list = code === "not_found" ? LISTS[kindOf(details["what"])] : undefined;
  return list === undefined || said.includes("`assay ") || said.endsWith("?")
    ? said
    : `${said} \`assay ${list}\` lists them.`;
}

/** What servers say, and what it is here. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/GET \/v1\/workflows lists what there is/, "`assay workflow list` shows what there is"],
  [/POST \/v1\/runs\/([^\s/]+)\/interrupts\/([^\s/]+?)\.$/, "`assay resolve $1 $2 ACTION`."],
  [/Its events are at GET \/v1\/runs\/([^\s/]+)\/events\/poll/, "`assay run watch $1 --all` shows its events"],
  [/GET \/v1\/host\/assay\/inbox lists/, "`assay inbox` lists"],
  [/Owners make keys with POST \/v1\/host\/assay\/keys/, "Make one with `assay key create`"],
  [/A new one is made with POST \/v1\/host\/assay\/keys/, "Make a new one with `assay key create`"],
  [/send the judgment with `revise: true`/, "use `assay queue judge … --revise`"],
];

/** The command that lists the things of a kind, by the word that the error has for it. */
const LISTS: Readonly<Record<string, string>> = {
  run: "run list",
  workflow: "workflow list",
  agent: "agent list",
  suite: "suite list",
  evaluation: "eval list",
  baseline: "eval baseline list",
  "review queue": "queue list",
  key: "key list",
  role: "role list",
  principal: "principal list",
  annotation: "annotations",
};

/** `review queue called weekly` is a review queue. */
function kindOf(what: unknown): string {
  return String(what).split(" called ", 1)[0] ?? "";
}

/** Flags whose parameter of the API has another name. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = { from: ["from", "since"], to: ["to", "until"] };

function flagFor(parameter: string, flags: readonly string[]): string | undefined {
  const names = OTHER_NAMES[parameter] ?? [parameter, parameter.replace(/Id$/, "")];
  const flag = names.find((name) => flags.includes(name));
  return flag === undefined ? undefined : `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
