/** Compiling takes time by states; reading a class of Unicode, or one that ignores case, as much as many states, however often it repeats. */
const CLASS_STATES = 50;

interface Group {
  /** States of the group up to its last part. */
  sum: number;
  /** States of the last part, which a repetition multiplies. */
  last: number;
}

/**
 * At most about how many states a pattern has as a program, counted without compiling it: repetitions within repetitions multiply, so that
 * a pattern of 20 characters may have thousands. Syntax errors are left to the compiler.
 */
export function patternSize(source: string): number {
  const groups: Group[] = [];
  let group: Group = { sum: 0, last: 0 };
  const part = (states: number) => {
    group.sum += group.last;
    group.last = states;
  };
  const ignoresCase = /\(\?[a-zA-Z]*i/.test(source);
  let classes = 0;
  for (let at = 0; at < source.length; ) {
    const character = source.charAt(at);
    const end = endOf(source, at);
    if (character === "(") {
      groups.push(group);
      group = { sum: 0, last: 0 };
    } else if (character === ")") {
      const states = group.sum + group.last + 2;
      group = groups.pop() ?? { sum: 0, last: 0 };
      part(states);
    } else if (character === "{" && end > at + 1) {
      group.last = (group.last + 1) * timesOf(source.slice(at + 1, end - 1));
    } else if ("*+?|".includes(character)) {
      group.last += 1;
      if (character === "|") part(0);
    } else {
      part(1);
      classes += namedClasses(source.slice(at, end)) + (character === "[" && ignoresCase ? 1 : 0);
    }
    at = end;
  }
  return [...groups, group].reduce((sum, one) => sum + one.sum + one.last, classes * CLASS_STATES);
}

const REPETITION = /\{(\d{1,9})(,\d{0,9})?\}/y;
const ESCAPE = /\\(?:[pPx]\{[^}]{0,64}\}|[pP].|[\s\S])/y;
const CLASS = /\[\^?\]?(?:\\[\s\S]|\[:\^?[a-z]{1,12}:\]|[^\]\\])*\]?/y;

/** Where the part that begins here ends. */
function endOf(source: string, at: number): number {
  const character = source.charAt(at);
  const rule = character === "{" ? REPETITION : character === "\\" ? ESCAPE : character === "[" ? CLASS : undefined;
  if (rule === undefined) return at + 1;
  rule.lastIndex = at;
  return rule.test(source) ? rule.lastIndex : at + 1;
}

function timesOf(repetition: string): number {
  const [least = "", most = ""] = repetition.split(",");
  return Math.max(1, Number(least), Number(most));
}

function namedClasses(text: string): number {
  return text.match(/\\[pP]/g)?.length ?? 0;
}
