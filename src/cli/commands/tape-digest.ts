import { TapeDigest } from "../../formats/tape/digest.ts";
import { readTape } from "../../formats/tape/read-tape.ts";
import type { Call } from "../command.ts";
import { watchedBytes } from "../tape/file-bytes.ts";

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
