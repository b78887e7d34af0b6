import { expect, test } from "vitest";
import { ADA, engineOn } from "../../testing/engine.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { workbench } from "../../testing/workbench.ts";
import { loadSuite, requireSuite } from "./load-suite.ts";
import { keepDraft } from "./replace-suite.ts";
import { putSuite, readSuite, suiteText } from "./suite-store.ts";

const bench = workbench();
const REF = "local.test.evals.echo@1.0.0";

test("a suite is parsed once for all that use it, and another one under its name is not taken for it", async () => {
  const host = engineOn(bench.store);
  const text = JSON.stringify(suiteOf([goldenTask("a", "x")]));
  await putSuite(host, { caller: ADA, ref: REF, bytes: Buffer.from(text) });
  const [one, other] = await Promise.all([readSuite(host, ADA.tenant, REF), readSuite(host, ADA.tenant, REF)]);
  const later = await readSuite(host, ADA.tenant, "local.test.evals.echo");
  expect(one.suite).toBe(other.suite);
  expect(later.suite).toBe(one.suite);
  expect(await suiteText(host, ADA.tenant, REF)).toBe(text);

  const draft = JSON.stringify(suiteOf([goldenTask("b", "y")]));
  await keepDraft(host, ADA, requireSuite(loadSuite(Buffer.from(draft)), "the draft"));
  const replaced = await readSuite(host, ADA.tenant, REF);
  expect(replaced.suite.tasks.map(({ taskId }) => taskId)).toEqual(["b"]);
  expect(replaced.info.sha256).not.toBe(one.info.sha256);
  expect(one.suite.tasks.map(({ taskId }) => taskId)).toEqual(["a"]);
});
