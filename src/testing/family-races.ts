import { expect } from "vitest";
import type { Host } from "../engine/host.ts";
import { cancelRun, pauseRun, resumeRun } from "../engine/runs/change-run.ts";
import { AppError } from "../protocol/errors.ts";
import { endsRun } from "../protocol/events.ts";
import type { Run } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import { begin, logOf, register, until } from "./engine.ts";
import { accept, calls, childrenOf, expectSound, familyOf, GATE, read } from "./family.ts";
import { pick, type Random, randomFrom } from "./random-workflow.ts";
import { change } from "./workbench.ts";
import { workflow } from "./workflow.ts";

/** Hosts that share one database, with a worker each. Whatever is done is done at one of them. */
export interface Hosts {
  readonly all: readonly Host[];
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

function nth({ all }: Hosts, n: number): Host {
  return all[n % all.length] as Host;
}

const waits = ({ status }: Run) => status === "waiting-approval";

/** A workflow whose nodes each run the workflow `of`. */
export async function fanOut(
  { all }: Hosts,
  id: string,
  of: string,
  width: number,
  config: object = {},
): Promise<void> {
  const nodes = Object.fromEntries(upTo(width).map((n) => [`call-${n}`, calls(of, config)]));
  await register(all[0] as Host, workflow({ id, nodes }));
}

export async function gated({ all }: Hosts, id: string): Promise<void> {
  await register(all[0] as Host, workflow({ id, nodes: { gate: GATE } }));
}

/** A run all of whose children wait for somebody. */
async function waiting(hosts: Hosts, workflowId: string, width: number): Promise<{ runId: string; children: Run[] }> {
  const { store } = nth(hosts, 0);
  const runId = await begin(nth(hosts, 0), { workflowId });
  await until(store, runId, ({ children }) => Object.keys(children).length === width);
  const children = await childrenOf(store, runId);
  await Promise.all(children.map((child) => until(store, child.runId, waits)));
  return { runId, children };
}

/** How the run ended, when it and all below it have: each once, and none waiting for another. */
async function settled(hosts: Hosts, runId: string): Promise<Run> {
  const { store } = nth(hosts, 0);
  await until(store, runId, ({ status }) => isTerminal(status));
  for (const run of await familyOf(store, runId)) {
    await until(store, run.runId, ({ status }) => isTerminal(status));
    expect((await logOf(store, run.runId)).filter(({ type }) => endsRun(type))).toHaveLength(1);
  }
  await expectSound(store, runId);
  return read(store, runId);
}

/** Many children come to their ends at once: every end is told to the parent, and none is told in vain. */
export async function manyEnd(hosts: Hosts, workflowId: string, width: number): Promise<void> {
  const { runId, children } = await waiting(hosts, workflowId, width);
  const answers = await Promise.all(children.map((child, n) => accept(nth(hosts, n), child.runId)));
  expect(answers.every(({ resolved }) => resolved)).toBe(true);
  expect((await settled(hosts, runId)).status).toBe("completed");
}

/** Children end while their parent is cancelled: each of them completed or was cancelled, and the parent has one end. */
export async function endsMeetCancel(hosts: Hosts, workflowId: string, width: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const { runId, children } = await waiting(hosts, workflowId, width);
  const deeds = children.map((child, n) => () => refusable(accept(nth(hosts, n), child.runId)));
  deeds.splice(Math.floor(random() * deeds.length), 0, () => cancelRun(nth(hosts, seed), change(runId)).then(() => {}));
  await Promise.all(deeds.map((deed) => deed()));
  const run = await settled(hosts, runId);
  const ends = (await childrenOf(nth(hosts, 0).store, runId)).map(({ status }) => status);
  if (run.status === "completed") expect(new Set(ends)).toEqual(new Set(["completed"]));
  else expect(run.status).toBe("cancelled");
  expect(ends.filter((status) => status === "failed")).toEqual([]);
}

/** A family of three levels, and people who answer, cancel, pause and resume whatever they find in it. */
export async function crowd(hosts: Hosts, workflowId: string, seed: number): Promise<Run> {
  const { store } = nth(hosts, 0);
  const random = randomFrom(seed);
  const runId = await begin(nth(hosts, 0), { workflowId });
  await until(store, runId, waits);
  for (let deed = 0; deed < 40 && !isTerminal((await read(store, runId)).status); deed++) {
    const family = await familyOf(store, runId);
    const deeds = upTo(4).map((n) => disturb(nth(hosts, n), pick(random, family), random));
    await Promise.all(deeds);
  }
  await finish(hosts, runId);
  return settled(hosts, runId);
}

function disturb(host: Host, run: Run, random: Random): Promise<void> {
  const { runId } = run;
  const deed = random();
  if (deed < 0.01) return refusable(cancelRun(host, change(runId)));
  if (deed < 0.1) return refusable(pauseRun(host, change(runId, { drainPolicy: "immediate" })));
  if (deed < 0.3) return refusable(resumeRun(host, change(runId)));
  return refusable(accept(host, runId));
}

/** Resumes and accepts until nothing is left to do. */
async function finish(hosts: Hosts, runId: string): Promise<void> {
  const { store } = nth(hosts, 0);
  const deadline = Date.now() + 20_000;
  while (!isTerminal((await read(store, runId)).status)) {
    if (Date.now() > deadline) {
      const stuck = (await familyOf(store, runId)).map((run) => [run.runId, run.status, run.nodes, run.children]);
      throw new Error(`run ${runId} does not end: ${JSON.stringify(stuck)}`);
    }
    for (const run of await familyOf(store, runId)) {
      if (run.status === "paused") await refusable(resumeRun(nth(hosts, 1), change(run.runId)));
      if (waits(run)) await refusable(accept(nth(hosts, 1), run.runId));
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What people are told when others were faster; that the run kept moving is not among it. */
async function refusable(deed: Promise<unknown>): Promise<void> {
  try {
    await deed;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toMatch(/^(interrupt_\w+|run_terminal|run_state_conflict)$/);
  }
}
