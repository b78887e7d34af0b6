// @ts-check
// The client side, in a process of its own: takes jobs over the channel to its parent, one at a time.
import * as annotationJobs from "./annotation-jobs.js";
import * as fanOutJobs from "./fan-out-jobs.js";
import * as gateJobs from "./gate-jobs.js";
import * as runJobs from "./jobs.js";

/** @type {Record<string, (job: any) => Promise<unknown>>} */
const jobs = { ...runJobs, ...fanOutJobs, ...gateJobs, ...annotationJobs };

process.on("message", async (/** @type {{ name: string, job: unknown }} */ { name, job }) => {
  try {
    process.send?.({ result: await jobs[name]?.(job) });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
process.on("disconnect", () => process.exit());
