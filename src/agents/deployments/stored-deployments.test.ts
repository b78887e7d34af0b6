import { expect, test } from "vitest";
import { agentOf, agentsOf, echo } from "../../testing/eval-bench.ts";
import { workbench } from "../../testing/workbench.ts";
import { listDeployments } from "./stored-deployments.ts";

const bench = workbench();

test("a version that is too long for the protocol is no deployment", async () => {
  const versions = ["1.0.0", `1.0.0-${"a".repeat(58)}`, `1.0.0-${"a".repeat(59)}`];
  const agents = agentsOf(
    versions.map((version) => agentOf({ version })),
    echo,
  );
  const listed = await listDeployments(bench.store, agents, { tenant: "t1" }, agentOf().agentId);
  expect(listed.map(({ version }) => version.length).sort()).toEqual([5, 64]);
});
