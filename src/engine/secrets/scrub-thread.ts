import { parentPort } from "node:worker_threads";
import { loadRuleSet } from "../../formats/secrets/rule-set.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import type { ScrubAnswer, ScrubTask } from "./long-scrubs.ts";

/** The thread of `long-scrubs.ts`: one text at a time, with the rules of the process and the secrets that it knows. */
if (parentPort === null) throw new Error("scrub-thread.ts runs as a worker thread only");

const port = parentPort;
const more = loadRuleSet();
port.on("message", async ({ id, text, known }: ScrubTask) => {
  const answer: ScrubAnswer = { id, clean: scrubber({ known, more: await more }).scrubText(text) };
  port.postMessage(answer);
});
