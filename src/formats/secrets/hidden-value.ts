import { MASK } from "../../protocol/events.ts";
import { checked } from "./checked-value.ts";
import { isOption, isUserAndGroup, WORD_ATTACHED } from "./command-lines.ts";
import { NAMED, NAMING } from "./paired-secrets.ts";
import { isSecretName, isValue } from "./secret-names.ts";
import { masked } from "./text-range.ts";

/** The value of a member, hidden where the name says that it is secret; undefined where it does not. */
export function hiddenByName(name: string, value: string): string | undefined {
  if (!isSecretName(name) || value === "") return undefined;
  const range = checked(value, [0, value.length], name);
  return range === undefined ? undefined : masked(value, [range], MASK);
}

/** The name that makes the value of a member secret: its own, or the one that another member gives it. */
export function secretNameOf(names: readonly string[], values: readonly unknown[], i: number): string | undefined {
  const name = names[i] ?? "";
  if (isSecretName(name)) return name;
  if (!NAMED.has(name)) return undefined;
  return names.flatMap((other, at): string[] => {
    const called = values[at];
    return NAMING.has(other) && typeof called === "string" && isSecretName(called) ? [called] : [];
  })[0];
}

/** The option that a list of arguments of a program has before a secret; an option is followed by another one where it has no value. */
export function optionBefore(items: readonly unknown[], i: number): string | undefined {
  const [option, item] = [items[i - 1], items[i]];
  if (typeof option !== "string" || (typeof item === "string" && isOption(item))) return undefined;
  return /^--?[A-Za-z]/.test(option) && isSecretName(option) ? option : undefined;
}

/** The item of a list of arguments, hidden where the option before it says that it is secret; undefined where none does. */
export function hiddenArgument(items: readonly unknown[], i: number): string | undefined {
  const item = items[i];
  if (typeof item !== "string") return undefined;
  const option = optionBefore(items, i);
  if (option !== undefined) return hiddenByName(option, item);
  if (items[i - 1] === "-u" || items[i - 1] === "--user") return hiddenLogin(items, i, item);
  return hiddenPassword(items, i, item);
}

/** A name and a password; no address, path or pair of numbers. */
const LOGIN = /^([\w.@-]{1,64}):(?!\d+$|[/\\])(.+)$/s;

function hiddenLogin(items: readonly unknown[], i: number, item: string): string | undefined {
  const [, user = "", password = ""] = LOGIN.exec(item) ?? [];
  if (password === user || !isValue(password, "password")) return undefined;
  return isUserAndGroup(argumentsBefore(items, i - 1).join(" ")) ? undefined : `${user}:${MASK}`;
}

/** What `-p` is the password of: sshpass and commands called login; for mysql only where the value is right at it. */
function hiddenPassword(items: readonly unknown[], i: number, item: string): string | undefined {
  const isAttached = item.startsWith("-p") && item.length > 2;
  if (!isAttached && items[i - 1] !== "-p") return undefined;
  const before = argumentsBefore(items, isAttached ? i : i - 1);
  const isCommand = (pattern: RegExp) => before.some((argument) => pattern.test(argument));
  const value = isAttached ? item.slice(2) : item;
  const isPassword =
    /(?:^|\/)sshpass$/.test(before.at(-1) ?? "") ||
    (isAttached && isCommand(/(?:^|\/)mysql\w{0,10}$/)) ||
    (isCommand(/^login$/) && !(isAttached && value.search(WORD_ATTACHED) === 0));
  return isPassword && isValue(value, "password") ? `${item.slice(0, item.length - value.length)}${MASK}` : undefined;
}

/** So many arguments before an option are searched for its command. */
const ARGUMENTS_MAX = 12;

function argumentsBefore(items: readonly unknown[], i: number): string[] {
  return items.slice(Math.max(0, i - ARGUMENTS_MAX), Math.max(0, i)).filter((item) => typeof item === "string");
}
