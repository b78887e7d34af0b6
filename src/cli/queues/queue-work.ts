import { createInterface } from "node:readline";
import { connect } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import { findQueue } from "./queue-client.ts";
import { workThrough } from "./work-queue.ts";

export async function queueWork({ args: [named = ""], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const queue = await findQueue(client, named);
  const input = createInterface({ input: process.stdin });
  try {
    // With --json only the sum is a result; what leads to it is talk.
    const shown = json ? { ...io, out: io.err } : io;
    const judged = await workThrough(client, queue, shown, input[Symbol.asyncIterator]());
    io.out(json ? JSON.stringify({ judged }) : `${formatCount(judged, "item")} judged`);
  } finally {
    input.close();
  }
}
