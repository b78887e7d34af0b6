import { chunksOf } from "./call.ts";

/** One frame of a `text/event-stream`. */
export interface RawFrame {
  readonly event: string;
  readonly data: string;
  /** Its own; some frames have none and are not sent again. */
  readonly id: string | undefined;
}

/**
 * Frames as they arrive, by the rules of the HTML standard: lines end in LF, CRLF or CR, comments are skipped, and a frame that the
 * connection cut off is dropped, since it will be sent again after the last id. `onId` is called with every id, also with one that
 * comes without data and only says where to resume. `onBytes` is called with every piece, also of comments.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  onId: (id: string) => void = () => {},
  onBytes: () => void = () => {},
): AsyncGenerator<RawFrame, void, undefined> {
  let id: string | undefined;
  let event = "";
  let data: string[] = [];
  for await (const line of readLines(body, onBytes)) {
    if (line === "") {
      if (id !== undefined) onId(id);
      if (data.length > 0) yield { event: event || "message", data: data.join("\n"), id };
      id = undefined;
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }
}

async function* readLines(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  // Pieces of a line whose end has not come. Each piece is searched once, however many there are.
  let begun: string[] = [];
  let afterReturn = false;
  for await (const chunk of chunksOf(body)) {
    onBytes();
    const text = decoder.decode(chunk, { stream: true });
    if (text === "") continue;
    // The second half of a CRLF that the connection cut in two.
    let start = afterReturn && text.startsWith("\n") ? 1 : 0;
    afterReturn = false;
    for (let end = endOfLine(text, start); end < text.length; end = endOfLine(text, start)) {
      begun.push(text.slice(start, end));
      yield begun.join("");
      begun = [];
      afterReturn = text[end] === "\r" && end + 1 === text.length;
      start = end + (text.startsWith("\r\n", end) ? 2 : 1);
    }
    if (start < text.length) begun.push(text.slice(start));
  }
}

function endOfLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== "\n" && text[at] !== "\r") at++;
  return at;
}
