import type { AppError, ErrorDetails } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";

/**
 * The message of an error in the words of the command line. The server speaks to every client, so it names routes and fields; a
 * reader of this program's output needs commands and flags.
 */
export function cliWords({ code, details, message }: AppError, flags: readonly string[] = []): string {
  const said = PHRASES.reduce((text, [phrase, instead]) => text.replace(phrase, instead), message).replace(
    /\bquery\/(\w+)/g,
    (field, name: string) => flagFor(name, flags) ?? field,
  );
  return code === "not_found" ? notFoundWords(said, details) : said;
}

/** Names the thing that was asked for, and the command that lists such things unless the message says already what to do. */
function notFoundWords(message: string, details: ErrorDetails): string {
  const kind = kindOf(details["what"]);
  const id = details[ID_MEMBERS[kind] ?? ""];
  const unnamed = `no ${kind} `;
  const named = typeof id === "string" ? `${unnamed}${printable(id)} ` : unnamed;
  // Looked for behind its kind only: an id as short as `z` is also part of words and paths in the message.
  const said = message.includes(named) ? message : message.replace(unnamed, () => named);
  const list = LISTS[kind];
  return list === undefined || said.includes("assay ") || said.endsWith("?")
    ? said
    : `${said} \`assay ${list}\` lists them.`;
}

/** What servers say, and what it is here. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/^The request is not valid: /, ""],
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
  certificate: "judge list",
  "promotion policy": "policy show",
  "scored task": "eval show RUN",
};

/** The member of an error's details with the id of a thing, by the word that the error has for its kind. */
const ID_MEMBERS: Readonly<Record<string, string>> = {
  run: "runId",
  workflow: "workflowId",
  agent: "agentId",
  suite: "suite",
  evaluation: "runId",
  baseline: "name",
  "review queue": "queueId",
  "item of a review queue": "itemId",
  key: "keyId",
  role: "role",
  principal: "principal",
  annotation: "annotationId",
  certificate: "certificateId",
  "promotion policy": "subject",
  "scored task": "taskId",
  "review session": "sessionId",
  tape: "runId",
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
