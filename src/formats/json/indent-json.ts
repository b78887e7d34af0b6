const INDENT = "  ";

/**
 * Compact JSON as reports have it: two spaces per level, one element per line, empty containers closed at once. Numbers stay as they
 * are written.
 */
export function indentJson(compact: string, outerLevel = 0): string {
  let level = outerLevel;
  return compact.replace(TOKENS, (token) => {
    switch (token) {
      case "{":
      case "[":
        return `${token}\n${INDENT.repeat(++level)}`;
      case "}":
      case "]":
        return `\n${INDENT.repeat(--level)}${token}`;
      case ",":
        return `,\n${INDENT.repeat(level)}`;
      case ":":
        return ": ";
      default:
        return token;
    }
  });
}

/** A string and an empty container are matched whole, so that nothing inside is taken for structure. */
const TOKENS = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g;

/** A member of a report: compact JSON, or the elements of a list, which may be too many for one text. */
export type ReportMember = readonly [name: string, value: string | Iterable<string>];

/** An object in the same form, piece by piece and without a final LF. */
export function* indentedReport(members: readonly ReportMember[]): Generator<string> {
  for (const [i, [name, value]] of members.entries()) {
    yield `${i === 0 ? "{" : ","}\n${INDENT}${JSON.stringify(name)}: `;
    if (typeof value === "string") yield indentJson(value, 1);
    else yield* indentedList(value);
  }
  yield "\n}";
}

function* indentedList(elements: Iterable<string>): Generator<string> {
  let separator = "[";
  for (const element of elements) {
    yield `${separator}\n${INDENT.repeat(2)}${indentJson(element, 2)}`;
    separator = ",";
  }
  yield separator === "[" ? "[]" : `\n${INDENT}]`;
}
