/**
 * The offset at which a text stops being JSON. Computed only after JSON.parse has refused the text, because the error of JSON.parse
 * quotes the text and does not always name the place. Recursion is bounded: depth was checked before.
 */
export function whereJsonBreaks(text: string): number {
  const end = afterSpace(text, 0);
  const value = afterValue(text, end);
  return value < 0 ? ~value : afterSpace(text, value);
}

/** The offset up to which the text is JSON; `~offset` where it stops being JSON. */
type Place = number;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /true|false|null/y;

function afterValue(text: string, at: number): Place {
  switch (text[at]) {
    case "{":
      return afterMembers(text, at + 1, "}");
    case "[":
      return afterMembers(text, at + 1, "]");
    case '"':
      return afterString(text, at);
    default: {
      const end = afterMatch(WORD, text, at);
      return end > at ? end : broken(afterMatch(NUMBER, text, at), at);
    }
  }
}

function afterMembers(text: string, from: number, close: "}" | "]"): Place {
  let at = afterSpace(text, from);
  if (text[at] === close) return at + 1;
  for (;;) {
    if (close === "}") {
      const name = text[at] === '"' ? afterString(text, at) : ~at;
      if (name < 0) return name;
      at = afterSpace(text, name);
      if (text[at] !== ":") return ~at;
      at = afterSpace(text, at + 1);
    }
    const value = afterValue(text, at);
    if (value < 0) return value;
    at = afterSpace(text, value);
    if (text[at] === close) return at + 1;
    if (text[at] !== ",") return ~at;
    at = afterSpace(text, at + 1);
  }
}

function afterString(text: string, quote: number): Place {
  for (let at = quote + 1; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') return at + 1;
    if (character < " ") return ~at;
    if (character === "\\") {
      const end = afterMatch(ESCAPE, text, at);
      if (end === at) return ~at;
      at = end - 1;
    }
  }
  return ~text.length;
}

function broken(end: number, at: number): Place {
  return end > at ? end : ~at;
}

function afterSpace(text: string, at: number): number {
  return afterMatch(SPACE, text, at);
}

function afterMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
