import type { TaskLink } from "../../protocol/evals/suite-growth.ts";
import { withHome } from "../evals/choose-home.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { SUITE_LINKS_FLAGS } from "./suite-growth-commands.ts";

const PAGE = 200;

export async function suiteLinks(call: Call<typeof SUITE_LINKS_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const links: TaskLink[] = [];
  await withHome(
    call,
    async (home) => {
      const runId = flags.run === undefined ? undefined : await evalNamed(home, flags.run);
      let cursor: string | undefined;
      do {
        const page = await home.taskLinks({
          limit: PAGE,
          ...(flags.suite === undefined ? {} : { suiteId: flags.suite }),
          ...(runId === undefined ? {} : { runId }),
          ...(cursor === undefined ? {} : { cursor }),
        });
        links.push(...page.links);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
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
