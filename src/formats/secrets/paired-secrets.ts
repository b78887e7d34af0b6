import { checked } from "./checked-value.ts";
import { lineEnd, readQuoted } from "./read-value.ts";
import { isSecretName } from "./secret-names.ts";
import { requireFew, type TextRange } from "./text-range.ts";

/** Members that say what another one is called: `{ "name": "DB_PASSWORD", "value": "…" }`. */
export const NAMING: ReadonlySet<string> = new Set(["name", "key", "header", "variable", "variableName"]);
/** Members that hold the value of what another one names. */
export const NAMED: ReadonlySet<string> = new Set(["value", "defaultValue", "default"]);

/** The members of one object are searched so far. */
const OBJECT_MAX = 2_048;
const MEMBERS_MAX = 8;

const FIRST = /(?<![\w.$-])(?:name|key|header|variable|variableName|value|defaultValue|default)["']?[ \t]{0,8}:/g;
const MEMBER = /["']?([A-Za-z]{1,20})["']?[ \t]{0,8}:[ \t]{0,8}/y;
const SEPARATOR = /[ \t]{0,8}(?:,\s{0,64}|\r?\n[ \t]{0,64})(?=["'A-Za-z])/y;
const PLAIN = /[^\s"'`,{}[\]][^\n,{}[\]]*/y;

/** Values whose name is the value of the member beside them, in JSON and in settings of one member a line. */
export function pairedSecretsIn(text: string): TextRange[] {
  const found: TextRange[] = [];
  if (!/value|default/i.test(text)) return found;
  FIRST.lastIndex = 0;
  for (let match = FIRST.exec(text); match !== null; match = FIRST.exec(text)) {
    const { index } = match;
    const object = text.slice(index, index + OBJECT_MAX);
    const { members, isCode } = membersOf(object);
    for (const [from, to] of secretsAmong(members, object, isCode)) {
      // A value that is cut off by the limit goes on in the text.
      found.push([index + from, to < OBJECT_MAX ? index + to : lineEnd(text, index + to)]);
    }
    requireFew(found.length);
    // A value without quotes goes up to the end of its line: read again from each name in it, a long line would be read many times.
    const first = members[0];
    if (first?.isQuoted === false) FIRST.lastIndex = index + first.value[1];
  }
  return found;
}

interface Member {
  readonly name: string;
  readonly value: TextRange;
  readonly isQuoted: boolean;
}

/** The values that are secret by the name that another member gives them. */
function secretsAmong(members: readonly Member[], object: string, isCode: boolean): TextRange[] {
  const secretName = members
    .filter(({ name }) => NAMING.has(name))
    .map(({ value }) => object.slice(value[0], value[1]))
    .find((name) => !name.includes(" ") && isSecretName(name));
  if (secretName === undefined) return [];
  return members.flatMap(({ name, value, isQuoted }): TextRange[] => {
    if (!NAMED.has(name) || (isCode && !isQuoted)) return [];
    const range = checked(object, value, secretName);
    return range === undefined ? [] : [range];
  });
}

/** Members with a text, a number or a word, up to one that holds something else. After a comma a word is a variable: only code has it. */
function membersOf(object: string): { readonly members: readonly Member[]; readonly isCode: boolean } {
  const members: Member[] = [];
  let isCode = false;
  for (let at = 0; members.length < MEMBERS_MAX; ) {
    const member = memberAt(object, at);
    if (member === undefined) break;
    members.push(member);
    SEPARATOR.lastIndex = member.value[1] + (member.isQuoted ? 1 : 0);
    const separator = SEPARATOR.exec(object)?.[0];
    if (separator === undefined) break;
    isCode ||= separator.includes(",");
    at = SEPARATOR.lastIndex;
  }
  return { members, isCode };
}

function memberAt(object: string, at: number): Member | undefined {
  MEMBER.lastIndex = at;
  const name = MEMBER.exec(object)?.[1];
  if (name === undefined) return undefined;
  const from = MEMBER.lastIndex;
  const quoted = readQuoted(object, from);
  if (quoted !== undefined) return { name, value: quoted, isQuoted: true };
  PLAIN.lastIndex = from;
  const plain = PLAIN.exec(object)?.[0].trimEnd();
  return plain === undefined ? undefined : { name, value: [from, from + plain.length], isQuoted: false };
}
