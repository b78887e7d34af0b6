/**
 * JSON read exactly: an integer within 64 bits is a `bigint`, every other number a `number`, and all members of an object are kept in
 * order, with repeated names. The reader of a format decides which of them count.
 */
export type Json = null | boolean | string | bigint | number | readonly Json[] | JsonObject;

export class JsonObject {
  readonly members: readonly (readonly [name: string, value: Json])[];

  constructor(members: readonly (readonly [string, Json])[]) {
    this.members = members;
  }
}

/** The reason why a text is not JSON, or why JSON does not have the form of a format. Readers of files add the place. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
  /** The offset in the text in UTF-16 units, when the text is not JSON. */
  readonly at: number | undefined;

  constructor(message: string, at?: number) {
    super(message);
    this.at = at;
  }
}

/** The number of brackets that may be open at once. */
export const DEPTH_MAX = 127;

/** Throws `Unreadable` unless the text is one JSON value with only white space around it. */
export function readJson(text: string): Json {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

const MOST_NEGATIVE = -(2n ** 63n);
const MOST_POSITIVE = 2n ** 64n - 1n;
/**
 * The length of the longest integer of 64 bits with its sign. A longer one does not become a `bigint` first, which takes time in the square
 * of its length.
 */
const INTEGER_LENGTH_MAX = 20;

const [MINUS, POINT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39] as const;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in a string.
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Json {
    this.#space();
    const first = this.#text[this.#at];
    switch (first) {
      case "{":
        return this.#object(depth + 1);
      case "[":
        return this.#array(depth + 1);
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#wrong("something follows the value");
  }

  #object(depth: number): JsonObject {
    this.#open(depth);
    const members: [string, Json][] = [];
    this.#space();
    if (this.#takes("}")) return new JsonObject(members);
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#wrong("a name in quotes is expected");
      const name = this.#string();
      this.#space();
      if (!this.#takes(":")) throw this.#wrong("`:` is expected");
      members.push([name, this.value(depth)]);
      this.#space();
      if (this.#takes("}")) return new JsonObject(members);
      if (!this.#takes(",")) throw this.#wrong("`,` or `}` is expected");
    }
  }

  #array(depth: number): Json[] {
    this.#open(depth);
    const values: Json[] = [];
    this.#space();
    if (this.#takes("]")) return values;
    for (;;) {
      values.push(this.value(depth));
      this.#space();
      if (this.#takes("]")) return values;
      if (!this.#takes(",")) throw this.#wrong("`,` or `]` is expected");
    }
  }

  #open(depth: number): void {
    if (depth > DEPTH_MAX) throw this.#wrong(`it is nested more than ${DEPTH_MAX} deep`);
    this.#at++;
  }

  #string(): string {
    this.#at++;
    let text = "";
    for (;;) {
      PLAIN.lastIndex = this.#at;
      PLAIN.test(this.#text);
      text += this.#text.slice(this.#at, PLAIN.lastIndex);
      this.#at = PLAIN.lastIndex;
      const next = this.#text[this.#at];
      if (next === undefined) throw this.#wrong("the text ends inside a string");
      if (next !== '"' && next !== "\\") throw this.#wrong("a control character must be escaped in a string");
      this.#at++;
      if (next === '"') return text;
      text += this.#escape();
    }
  }

  #escape(): string {
    const letter = this.#text[this.#at] ?? "";
    this.#at++;
    if (letter !== "u") {
      const plain = ESCAPES[letter];
      if (plain === undefined) throw this.#wrong("there is no such escape");
      return plain;
    }
    const unit = this.#hex();
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    if (unit > 0xdbff || !this.#text.startsWith("\\u", this.#at)) throw this.#wrong("half of a surrogate pair");
    this.#at += 2;
    const low = this.#hex();
    if (low < 0xdc00 || low > 0xdfff) throw this.#wrong("half of a surrogate pair");
    return String.fromCharCode(unit, low);
  }

  #hex(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#wrong("\\u needs four hexadecimal digits");
    this.#at += 4;
    return Number.parseInt(digits, 16);
  }

  /** Digits are counted one by one: a pattern over millions of digits exhausts its stack. */
  #number(): bigint | number {
    const start = this.#at;
    const first = this.#text.charCodeAt(start) === MINUS ? start + 1 : start;
    let end = this.#text.charCodeAt(first) === ZERO ? first + 1 : this.#afterDigits(first);
    if (end === first)
      throw this.#wrong(start < this.#text.length ? "no JSON value begins here" : "a value is missing");
    const whole = end;
    if (this.#text.charCodeAt(end) === POINT) end = this.#afterPart(end, end + 1);
    const letter = this.#text[end];
    if (letter === "e" || letter === "E") {
      const sign = this.#text[end + 1];
      end = this.#afterPart(end, end + (sign === "+" || sign === "-" ? 2 : 1));
    }
    this.#at = end;
    const digits = this.#text.slice(start, end);
    if (end === whole && digits.length <= INTEGER_LENGTH_MAX && digits !== "-0") {
      const integer = BigInt(digits);
      if (integer >= MOST_NEGATIVE && integer <= MOST_POSITIVE) return integer;
    }
    const float = Number(digits);
    if (!Number.isFinite(float)) throw this.#wrong("the number is out of range");
    return float;
  }

  /** The end of a fraction or an exponent. One without digits is not part of the number. */
  #afterPart(start: number, digitsStart: number): number {
    const end = this.#afterDigits(digitsStart);
    return end === digitsStart ? start : end;
  }

  #afterDigits(start: number): number {
    let at = start;
    for (let code = this.#text.charCodeAt(at); code >= ZERO && code <= NINE; code = this.#text.charCodeAt(at)) at++;
    return at;
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#wrong("no JSON value begins here");
    this.#at += word.length;
    return value;
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    for (;;) {
      const next = this.#text.charCodeAt(this.#at);
      if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return;
      this.#at++;
    }
  }

  #wrong(reason: string): Unreadable {
    return new Unreadable(`${reason} (column ${this.#at + 1})`, this.#at);
  }
}
