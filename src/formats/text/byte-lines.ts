const NEWLINE = 10;

/**
 * The lines of a stream of bytes, without their newlines. Not `node:readline`: it also ends lines at characters that JSON allows inside a
 * text. What follows the last newline is a line as well, if there is anything.
 */
export async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end));
      yield parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
