import { readFile, stat } from "node:fs/promises";
import { mediaTypeOfFile } from "../../formats/reviews/media-types.ts";
import { mediaTypeOf, REQUEST_BYTES_MAX } from "../../formats/reviews/request.ts";
import { AppError } from "../../protocol/errors.ts";
import { digestOf } from "../../reviews/requester/artifact.ts";
import type { ArtifactVersion } from "../../reviews/requester/conversation.ts";
import { writeWhole } from "../files/write-file.ts";

/** The piece of work in a file. Sent as the text that it is, also when it is JSON: nothing of it is lost on the way. */
export async function readWork(path: string, mediaType: string, ref: string | undefined): Promise<ArtifactVersion> {
  const { size } = await stat(path).catch(unreadable(path));
  if (size > REQUEST_BYTES_MAX) throw unusable(`${path} is larger than a request may be (${REQUEST_BYTES_MAX} bytes)`);
  const bytes = await readFile(path).catch(unreadable(path));
  let content: string;
  try {
    content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unusable(`${path} is not a text in UTF-8`);
  }
  return { media_type: mediaType, content, artifact_ref: ref ?? digestOf(content) };
}

export function mediaTypeFor(path: string, given: string | undefined): string {
  if (given === undefined) return mediaTypeOfFile(path);
  if (mediaTypeOf(given) === undefined) throw unusable(`--media-type must look like text/markdown, not ${given}`);
  return given;
}

export async function writeWork(path: string, { content }: ArtifactVersion): Promise<void> {
  const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
  await writeWhole(path, [text]);
}

function unreadable(path: string): (error: Error) => never {
  return ({ message }) => {
    throw unusable(`${path} cannot be read: ${message}`);
  };
}

function unusable(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
