import { withBackend } from "../evals/choose-backend.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { SUITE_LINKS_FLAGS } from "./suite-growth-commands.ts";

const PAGE = 200;

export async function suiteLinks(call: Call<typeof SUITE_LINKS_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const links = await withBackend(
    call,
    async ({ client }) => {
      const runId = flags.run === undefined ? undefined : await evalNamed(client, flags.run);
      return client.suites.links({ limit: PAGE, suiteId: flags.suite, runId }).all();
    },
    { reads: true },
  );
  if (json) io.out(JSON.stringify({ links }));
  else if (links.length === 0) io.err("No task was made of a run. Make one with: assay suite add-from RUN");
  else {
    const rows = links.map(({ suiteId, version, taskId, runId, annotationId, by }) =>
      [`${suiteId}@${version}`, taskId, runId, annotationId, by].map(printable),
    );
    io.out(formatTable(["SUITE", "TASK", "RUN", "CORRECTION", "BY"], rows, io.paint));
  }
}
