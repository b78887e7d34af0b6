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
  let rest = "";
  for await (const chunk of chunksOf(body)) {
    onBytes();
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = endOfLine(rest, 0); end >= 0; end = endOfLine(rest, start)) {
      yield rest.slice(start, end);
      start = end + (rest.startsWith("\r\n", end) ? 2 : 1);
    }
    rest = rest.slice(start);
  }
}

/** A CR at the very end may be half of a CRLF: it waits for the next chunk. */
function endOfLine(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\n") return i;
    if (text[i] === "\r") return i + 1 < text.length ? i : -1;
  }
  return -1;
}
