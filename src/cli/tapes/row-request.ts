import { readJson, Unreadable } from "../../formats/json/exact-json.ts";
import { type FreeForm, type FreeMap, freeForm } from "../../formats/json/print-json.ts";
import type { RowRequest } from "../../formats/tapes/sidecar/decide-row.ts";
import { type HypothesisStatus, SUPERSEDES } from "../../formats/tapes/sidecar/new-row.ts";
import type { AUTHOR_KINDS, Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { readText, textArgument } from "../files/arguments.ts";
import type { FlagValues } from "../program/command.ts";
import type { TAPE_ANNOTATE_FLAGS } from "./file-commands.ts";

type Given = FlagValues<typeof TAPE_ANNOTATE_FLAGS>;

export interface AskedRow extends RowRequest {
  readonly event: bigint | "last" | undefined;
  readonly supersedes: string | undefined;
}

export function rowRequest(given: Given, author: string | undefined): AskedRow {
  const { event, kind, supersedes, evidence, fix, span, id } = given;
  if (supersedes === undefined && event === undefined)
    throw unusableInput("name the event: --event SEQ, or --event last");
  if (supersedes === undefined && kind === undefined) throw unusableInput("name the kind: --kind note, for example");
  if (id === "") throw unusableInput("--id must not be empty; leave it out, and one is made");
  return {
    event: event === undefined || event === "last" ? event : eventNumber(event, "--event"),
    kind,
    supersedes,
    id,
    evidence: evidence === undefined ? undefined : textArgument(evidence, "--evidence"),
    fix: fix === undefined ? undefined : exactJson(fix, "--fix"),
    span: span === undefined ? undefined : spanOf(span),
    status: given.status as HypothesisStatus | undefined,
    friction: given.friction,
    links: given.link.map(linkOf),
    metadata: metadataOf(given.meta),
    author: {
      id: author ?? null,
      kind: (given.authorKind ?? "human") as (typeof AUTHOR_KINDS)[number],
      surface: given.surface ?? "cli",
    },
  };
}

const LARGEST = 2n ** 64n - 1n;

function eventNumber(text: string, flag: string): bigint {
  const number = /^[0-9]+$/.test(text) ? BigInt(text) : undefined;
  if (number !== undefined && number <= LARGEST) return number;
  throw unusableInput(`${flag} ${text} must be the number of an event, as the tape has it in \`seq\``);
}

/** `END`, or `START:END`. */
function spanOf(text: string): RowRequest["span"] {
  const [first = "", second, more] = text.split(":");
  if (more !== undefined) throw unusableInput(`--span ${text} must look like END or START:END`);
  if (second === undefined) return { start: undefined, end: eventNumber(first, "--span") };
  return { start: eventNumber(first, "--span"), end: eventNumber(second, "--span") };
}

/** A label has no colon, because an address may have `=` after its colon. */
const LABELLED = /^([^=:]+)=(.*)$/s;

function linkOf(text: string): Row["links"][number] {
  const [, label = null, url = text] = LABELLED.exec(text) ?? [];
  if (URL.canParse(url)) return { label, url, reference: null };
  throw unusableInput(`--link ${text} must be an address with its scheme, such as https://…, or LABEL=ADDRESS`);
}

function metadataOf(items: readonly string[]): FreeMap {
  const metadata = exactAssignments(items, "--meta");
  if (metadata.has(SUPERSEDES)) throw unusableInput(`--meta ${SUPERSEDES}=… is written by --supersedes ID; use that`);
  return metadata;
}

/** The value of `JSON` or `@FILE` with exact integers; `@-` is standard input. */
function exactJson(argument: string, flag: string): FreeForm {
  const isFile = argument.startsWith("@");
  const value = parsed(isFile ? readText(argument.slice(1), flag) : argument);
  if (!(value instanceof Unreadable)) return value;
  const hint = isFile || /^\s*["{[]/.test(argument) ? "" : `; a text needs quotes of its own: ${flag} '"…"'`;
  throw unusableInput(`${flag} is not JSON: ${value.message}${hint}`);
}

/** `doc_url=https://…` and `n=3`: the value is JSON where it parses as JSON, else the text itself. A value that begins like JSON must be JSON. */
function exactAssignments(items: readonly string[], flag: string): FreeMap {
  const values = new Map<string, FreeForm>();
  for (const item of items) {
    const equals = item.indexOf("=");
    if (equals < 1) throw unusableInput(`${flag} ${item} must look like KEY=VALUE`);
    const key = item.slice(0, equals);
    if (values.has(key)) throw unusableInput(`${flag} ${key}=… is given twice`);
    values.set(key, parsedOrText(item.slice(equals + 1), `${flag} ${key}`));
  }
  return values;
}

function parsedOrText(text: string, flag: string): FreeForm {
  const value = parsed(text);
  if (!(value instanceof Unreadable)) return value;
  if (/^\s*["{[]/.test(text)) throw unusableInput(`${flag} is not JSON: ${value.message}`);
  return text;
}

function parsed(text: string): FreeForm | Unreadable {
  try {
    return freeForm(readJson(text));
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}
