import type { FileError } from "../../formats/text/file-error.ts";
import type { AppError, ErrorDetails } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import { kebab } from "../settings/settings.ts";

export interface Problem {
  readonly error: string;
  readonly message: string;
  readonly details: object;
}

/**
 * The one form of every error of every command on standard error: `error: MESSAGE`, or with `--json` one object. The word before the
 * message is prescribed by the format of tapes, so commands about tapes are no exception.
 */
export function errorLine(problem: Problem, json: boolean): string {
  return json ? JSON.stringify(problem) : `error: ${problem.message}`;
}

/** The line of an error with a code. `flags` are those of the command, which the message may name. */
export function appErrorLine(error: AppError, json: boolean, flags: readonly string[] = []): string {
  const { code, details } = error;
  // The table of errors ends every message with a full stop, also after a question.
  const message = cliMessage(error, flags).replace(/\?\.$/, "?");
  return errorLine({ error: code, message, details }, json);
}

/** The line of a file that cannot be read or written. Scripts compare its words; on a terminal control characters are replaced. */
export function fileErrorLine({ code, path, place, message }: FileError, json: boolean, isTerminal: boolean): string {
  const shown = isTerminal && !json ? printable(message) : message;
  return errorLine({ error: code, message: shown, details: { path, ...place } }, json);
}

/**
 * The message of an error in terms of the command line. A server answers every kind of client, so it names routes and fields; on the
 * command line those are commands and flags.
 */
export function cliMessage({ code, details, message }: AppError, flags: readonly string[] = []): string {
  const replaced = PHRASES.reduce((text, [phrase, instead]) => text.replace(phrase, instead), message);
  const text = replaced.replace(/\bquery\/(\w+)/g, (field, name: string) => flagFor(name, flags) ?? field);
  return code === "not_found" ? notFoundMessage(text, details) : text;
}

/** Phrases of servers, and those of the command line in their place. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/^The request is not valid: /, ""],
  [/GET \/v1\/workflows lists (?:the workflows|what there is)/, "`assay workflow list` shows what there is"],
  [/POST \/v1\/runs\/([^\s/]+)\/interrupts\/([^\s/]+?)\.$/, "`assay resolve $1 $2 ACTION`."],
  [/Its events are at GET \/v1\/runs\/([^\s/]+)\/events\/poll/, "`assay run watch $1 --all` shows its events"],
  [/GET \/v1\/host\/assay\/inbox lists/, "`assay inbox` lists"],
  [/Owners make keys with POST \/v1\/host\/assay\/keys/, "Make one with `assay key create`"],
  [/A new one is made with POST \/v1\/host\/assay\/keys/, "Make a new one with `assay key create`"],
  [/send the judgment with `revise: true`/, "use `assay queue judge … --revise`"],
];

/** Flags whose parameter of the API has another name. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = { from: ["from", "since"], to: ["to", "until"] };

function flagFor(parameter: string, flags: readonly string[]): string | undefined {
  const names = OTHER_NAMES[parameter] ?? [parameter, parameter.replace(/Id$/, "")];
  const flag = names.find((name) => flags.includes(name));
  return flag === undefined ? undefined : `--${kebab(flag)}`;
}

/** Kinds of things, as errors name them: the member of the error's details with the id, and the command that lists them. */
const KINDS: Readonly<Record<string, { readonly id?: string; readonly list?: string }>> = {
  run: { id: "runId", list: "run list" },
  workflow: { id: "workflowId", list: "workflow list" },
  agent: { id: "agentId", list: "agent list" },
  suite: { id: "suite", list: "suite list" },
  evaluation: { id: "runId", list: "eval list" },
  baseline: { id: "name", list: "eval baseline list" },
  "review queue": { id: "queueId", list: "queue list" },
  "item of a review queue": { id: "itemId" },
  key: { id: "keyId", list: "key list" },
  role: { id: "role", list: "role list" },
  principal: { id: "principal", list: "principal list" },
  annotation: { id: "annotationId", list: "annotations" },
  certificate: { id: "certificateId", list: "judge list" },
  "promotion policy": { id: "subject", list: "policy show" },
  "scored task": { id: "taskId", list: "eval show RUN" },
  "review session": { id: "sessionId" },
  tape: { id: "runId" },
};

/** Names the thing that was asked for, and the command that lists such things unless the message names a next step. */
function notFoundMessage(message: string, details: ErrorDetails): string {
  // `review queue called weekly` is of the kind `review queue`.
  const kind = String(details["what"]).split(" called ", 1)[0] ?? "";
  const { id: member = "", list } = KINDS[kind] ?? {};
  const id = details[member];
  const unnamed = `no ${kind} `;
  const named = typeof id === "string" ? `${unnamed}${printable(id)} ` : unnamed;
  // Looked for behind its kind only: an id as short as `z` is also part of words and paths in the message.
  const text = message.includes(named) ? message : message.replace(unnamed, () => named);
  if (list === undefined || text.includes("assay ") || text.endsWith("?")) return text;
  return `${text} \`assay ${list}\` lists them.`;
}
