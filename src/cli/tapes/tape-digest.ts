import { TapeDigest } from "../../formats/tapes/digest.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import type { Call } from "../program/command.ts";
import { watchedBytes } from "./files/file-bytes.ts";

export async function printDigest({ args, json, io }: Call): Promise<undefined> {
  const [path = ""] = args;
  const digest = await TapeDigest.start();
  let records = 0;
  await readTape(path, watchedBytes(path, io), (record) => {
    digest.add(record);
    records++;
  });
  const hex = digest.hex();
  io.out(json ? JSON.stringify({ tape_content_hash: hex, records }) : hex);
}
