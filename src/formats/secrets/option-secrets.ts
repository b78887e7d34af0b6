import { isGenerated, isQuote, lineEnd, readQuoted, readWord } from "./read-value.ts";
import { checked, isSecretName } from "./secret-names.ts";
import { requireFew, type TextRange } from "./text-range.ts";

/** Whether an argument is an option, and so not the value of the option before it. */
export function isOption(argument: string): boolean {
  return /^(?:--|-[A-Za-z]$)/.test(argument);
}

/** Text attached to `-p` that makes another option of it: `-path`, `-port=22`. */
export const WORD_ATTACHED = /[a-z]{1,40}(?:=|[\s"']|$)/;

/** The beginning of a command line, or of a list of its arguments. */
const CONTAINER =
  /\b(?:docker|podman|nerdctl)(?:["',\s]+compose)?["',\s]+(?:run|exec|create)(?:["',\s]+-[^\s"',]+)*["',\s]*$/;

/**
 * Whether `name:name` after this part of a command line is a user and a group: container programs have no logins there. Only options may
 * come between; after the image, options belong to another program.
 */
export function isUserAndGroup(before: string): boolean {
  return CONTAINER.test(before);
}

/** Values after options of commands: `--password x`, in a command line, over continued lines, and in a list of arguments. */
export function optionSecretsIn(text: string): TextRange[] {
  return [...longOptions(text), ...commandOptions(text)];
}

/** Words that follow an option name in sentences. */
const IN_SENTENCES =
  /^(?:to|and|or|is|are|was|were|as|in|on|at|by|of|for|with|from|the|a|an|it|its|if|when|so|then|than|but|not|that|which|this|can|may|must|will|should|has|have|needs?|takes?|flags?|options?|values?|arguments?|parameters?|switch|only|also|here|instead|into|given|alone|before|after|without|already|twice|again|file|files|set|does|did|names?|works?|would|could|overrides?|replaces?|instead|too|where|while|because|be|been|wins|defaults?)$/i;

function longOptions(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf("-"); at !== -1; ) {
    let end = at + 1;
    while (text.charAt(end) === "-") end++;
    const value = end - at <= 2 ? valueOfOption(text, at, end) : undefined;
    if (value !== undefined) found.push(value);
    requireFew(found.length);
    at = text.indexOf("-", Math.max(value?.[1] ?? 0, end));
  }
  return found;
}

/** A line continuation of shells; in JSON both characters are escaped. */
const CONTINUED = String.raw`[ \t]{0,64}(?:\\\r?\n|\\{3,15}n)[ \t]{0,64}(?=[^\s-])`;
/** The separator of two list items. Backticks do not count: sentences in Markdown list options in them. */
const NEXT_ITEM = String.raw`\\{0,15}["'][\s,]{1,64}(?=\\{0,15}["'])`;
const OPTION = new RegExp(
  String.raw`([A-Za-z][A-Za-z0-9_.-]{1,60})(?:${CONTINUED}|(?<blanks>[ \t]{1,64})(?=[^\s-])|(?<item>${NEXT_ITEM}))`,
  "y",
);
/** More blanks separate columns. */
const COLUMN = 8;
const IN_WORD = /[\w.$-]/;

function valueOfOption(text: string, at: number, nameFrom: number): TextRange | undefined {
  const before = text.charAt(at - 1);
  const isShort = nameFrom === at + 1;
  if (isShort ? !(before === " " || before === "\t" || isQuote(before)) : IN_WORD.test(before)) return undefined;
  OPTION.lastIndex = nameFrom;
  const match = OPTION.exec(text);
  const name = match?.[1] ?? "";
  if (name.endsWith(".") || !isSecretName(name)) return undefined;
  const from = OPTION.lastIndex;
  const quoted = readQuoted(text, from);
  const range = quoted ?? readWord(text, from);
  const value = text.slice(range[0], range[1]);
  if (quoted === undefined || match?.groups?.["item"] !== undefined) {
    // In a table the text after an option describes it.
    if ((match?.groups?.["blanks"]?.length ?? 0) > COLUMN && !/\d.*[a-z]|[a-z].*\d|.{16}/i.test(value))
      return undefined;
    if (isOption(value) || IN_SENTENCES.test(value.replace(/[.,;:!?)]+$/, ""))) return undefined;
  }
  // A call that declares an option describes it: `option("--token", "print the token")`.
  if (text.charAt(at - 2) === "(" && isQuote(before) && value.includes(" ")) return undefined;
  // One dash also marks a removed line, or an aside in a sentence.
  if (isShort && quoted === undefined && !isGenerated(value)) return undefined;
  return checked(text, range, name);
}

const GAP = String.raw`(?:(?:\s|\\\r?\n){1,64}|["']\s{0,64},\s{0,64}(?=["']))`;

/** A flag with its value after it or attached. The quote after a quoted flag closes it. */
function flag(name: string): string {
  return String.raw`(?:(?<=["'])${name}(?:${GAP}|(?!["']))|(?<=^|\s)${name}${GAP}?)`;
}

/** Short options that are unambiguous for their command; each pattern ends where the value begins. */
const SSHPASS = { word: "sshpass", pattern: new RegExp(String.raw`\bsshpass${GAP}["']?${flag("-p")}`, "g") };
const MYSQL = {
  command: /\bmysql\w{0,10}(?=[\s"'])/g,
  option: /(?<=[\s"'])-p(?=[^\s"'-]|(?<=\s-p)["'])/g,
};
const LOGIN = {
  command: /\blogin(?=[\s"'])/g,
  option: new RegExp(String.raw`(?<=[\s"'])-p(?:${GAP}|(?=[^\s"'\x60=-])(?!${WORD_ATTACHED.source}))`, "g"),
};

/** Characters after a command name within which options are its own; a sentence may go on with other options. */
const NEAR = 80;
/** Text after a command name that no sentence has: an option, or a continued line. */
const OPTIONS_FOLLOW = /[\s"',]{1,64}-|[ \t]{0,64}\\/y;
/** The end of a command: its last line, or an operator that joins two commands. */
const COMMAND_END = /(?<!\\)\r?\n|(?<!\\)\\n|[ \t](?:&&|\|\|?)[ \t]|;[ \t]/g;

/** Passwords of `-p` after the name of a command; other programs use `-p` too. No part of the text is searched twice. */
function passwordsOf(text: string, { command, option }: typeof MYSQL): TextRange[] {
  const found: TextRange[] = [];
  command.lastIndex = 0;
  option.lastIndex = 0;
  let next = option.exec(text);
  for (let match = command.exec(text); match !== null && next !== null; match = command.exec(text)) {
    const from = command.lastIndex;
    const end = endOfCommand(text, from);
    if (next.index < from) next = nextFrom(option, text, from);
    while (next !== null && next.index <= end) {
      const value = checked(text, argumentAfter(text, next.index, next.index + next[0].length), "password");
      if (value !== undefined) found.push(value);
      requireFew(found.length);
      next = nextFrom(option, text, Math.max(next.index + next[0].length, value?.[1] ?? 0));
    }
    if (end > from + NEAR) command.lastIndex = end;
  }
  return found;
}

function nextFrom(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

function endOfCommand(text: string, from: number): number {
  OPTIONS_FOLLOW.lastIndex = from;
  if (!OPTIONS_FOLLOW.test(text)) return Math.min(lineEnd(text.slice(from, from + NEAR), 0) + from, from + NEAR);
  return nextFrom(COMMAND_END, text, from)?.index ?? text.length;
}

const LOGINS = [
  { word: "-u", pattern: new RegExp(flag("-u"), "g") },
  { word: "--user", pattern: new RegExp(String.raw`(?<=^|[\s"'])--user(?:=|${GAP})`, "g") },
] as const;

function commandOptions(text: string): TextRange[] {
  return [
    ...valuesAfter(text, SSHPASS.word, SSHPASS.pattern, argumentAfter),
    ...(text.includes("-p") ? [...passwordsOf(text, MYSQL), ...passwordsOf(text, LOGIN)] : []),
    ...LOGINS.flatMap(({ word, pattern }) => valuesAfter(text, word, pattern, passwordOfLogin)),
  ];
}

type Read = (text: string, optionFrom: number, from: number) => TextRange | undefined;

function valuesAfter(text: string, word: string, pattern: RegExp, read: Read): TextRange[] {
  const found: TextRange[] = [];
  if (!text.includes(word)) return found;
  for (const match of text.matchAll(pattern)) {
    const range = read(text, match.index, match.index + match[0].length);
    const value = range === undefined ? undefined : checked(text, range, word);
    if (value !== undefined) found.push(value);
    requireFew(found.length);
  }
  return found;
}

function argumentAfter(text: string, _: number, from: number): TextRange {
  return readQuoted(text, from) ?? readWord(text, from);
}

const USER = /[\w.@-]{1,64}:/y;

/** The password of `name:password`; addresses, paths, pairs of numbers, and users with groups have none. */
function passwordOfLogin(text: string, optionFrom: number, from: number): TextRange | undefined {
  const quoted = readQuoted(text, from);
  USER.lastIndex = quoted?.[0] ?? from;
  const user = USER.exec(text)?.[0].slice(0, -1);
  if (user === undefined) return undefined;
  const at = USER.lastIndex;
  const [start, end] = quoted === undefined ? restOfArgument(text, optionFrom, at) : [at, quoted[1]];
  const password = text.slice(start, end);
  if (password === user || /^(?:\d+$|[/\\])/.test(password)) return undefined;
  return isUserAndGroup(text.slice(Math.max(0, optionFrom - 200), optionFrom)) ? undefined : [start, end];
}

/** Up to the closing quote where option and value share one: `"--user=ann:two words"`. */
function restOfArgument(text: string, optionFrom: number, at: number): TextRange {
  if (isQuote(text.charAt(optionFrom - 1))) return [at, readQuoted(text, optionFrom - 1)?.[1] ?? at];
  return readQuoted(text, at) ?? readWord(text, at);
}
