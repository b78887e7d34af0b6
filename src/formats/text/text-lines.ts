/**
 * The lines of a UTF-8 file that arrives in pieces: cut at LF, one CR directly before it goes with it, and no other character ends a
 * line. A byte-order mark is content. Throws a `TypeError` at the first bytes that are not UTF-8.
 */
export class TextLines {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** Of the line that has not ended yet. */
  #parts: string[] = [];

  /** The lines that this piece completes. */
  take(bytes: Uint8Array): string[] {
    return this.#cut(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What follows the last LF, if there is anything. */
  end(): string[] {
    const lines = this.#cut(this.#decoder.decode());
    const last = this.#parts.join("");
    this.#parts = [];
    return last === "" ? lines : [...lines, last];
  }

  #cut(text: string): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      const part = text.slice(start, end);
      lines.push(withoutReturn(this.#parts.length === 0 ? part : this.#parts.join("") + part));
      this.#parts = [];
      start = end + 1;
    }
    if (start < text.length) this.#parts.push(text.slice(start));
    return lines;
  }
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
