import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { AddedTask, AddFromRequest } from "../../protocol/evals/suite-api.ts";
import { withBackend } from "../evals/backend.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { ADD_FROM_FLAGS, SUITE_LINKS_FLAGS } from "./commands.ts";
import {
  linksBeside,
  type ProofOutcome,
  proofText,
  type SuiteTarget,
  suiteTarget,
  writeSuite,
} from "./suite-target.ts";

export async function suiteAddFrom(call: Call<typeof ADD_FROM_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  if (flags.tape !== undefined) return (await import("./add-from-tape.ts")).addFromTape(call);
  const [named] = args;
  if (named === undefined) throw unusableInput("name the run that was corrected, or a tape with --tape TAPE");
  const target = suiteTarget(flags.to, flags.id);
  const { annotation: annotationId, taskId, check } = flags;
  const request = { ...defined({ annotationId, taskId, check: check || undefined }), ...suiteOf(target) };
  const { added, runId } = await withBackend(call, "writes", async ({ client }) => {
    const runId = await evalNamed(client, named);
    return { added: await client.suites.addFromRun({ ...request, runId }), runId };
  }).catch((error: unknown) => {
    if (!json) printProof(error, io);
    throw error;
  });
  if (!flags.check && target.type !== "kept") await writeSuite(target, added.text, added.link ? [added.link] : []);
  if (json) io.out(JSON.stringify(target.type === "kept" ? added : { ...added, file: target.file }));
  else print(added, runId, target, io);
}

function suiteOf(target: SuiteTarget): Pick<AddFromRequest, "suite" | "suiteText" | "newSuiteId"> {
  if (target.type === "file") return { suiteText: target.text };
  if (target.type === "new") return { newSuiteId: target.suiteId };
  return target.ref === undefined ? {} : { suite: target.ref };
}

function print(added: AddedTask, runId: string, target: SuiteTarget, io: Io): void {
  const { task, suiteId, version, taskCount, proof, notes, link } = added;
  const { paint } = io;
  io.out(`Task ${paint.bold(task.taskId)} from ${printable(runId)}`);
  io.out(proofText(proof, paint));
  for (const note of notes) io.err(`${paint.yellow("!")} ${printable(note)}`);
  const ref = `${suiteId}@${version}, ${formatCount(taskCount, "task")}`;
  if (link === null) io.out(`It would be in ${ref}. Nothing was written.`);
  else if (target.type === "kept") io.out(`${paint.green("✓")} ${ref}; the version before stays as it is`);
  else io.out(`${paint.green("✓")} ${printable(target.file)}: ${ref}; links in ${printable(linksBeside(target.file))}`);
}

/** Prints the proof that a refusal carries: it shows why the task tells nothing apart. */
function printProof(error: unknown, io: Io): void {
  const proof = error instanceof AppError ? error.details["proof"] : undefined;
  const { recorded, correction } = (proof ?? {}) as Readonly<Record<string, unknown>>;
  if (!isOutcome(recorded)) return;
  io.err(proofText({ recorded, correction: isOutcome(correction) ? correction : undefined }, io.paint));
}

/** A server of another version may describe the outcome in another form. */
function isOutcome(value: unknown): value is ProofOutcome {
  const { passed, difference = [] } = (value ?? {}) as Partial<Record<keyof ProofOutcome, unknown>>;
  return typeof passed === "boolean" && Array.isArray(difference) && difference.every((one) => typeof one === "string");
}

const PAGE = 200;

export async function suiteLinks(call: Call<typeof SUITE_LINKS_FLAGS>): Promise<undefined> {
  const { flags } = call;
  const links = await withBackend(call, "reads", async ({ client }) => {
    const runId = flags.run === undefined ? undefined : await evalNamed(client, flags.run);
    return client.suites.links({ limit: PAGE, suiteId: flags.suite, runId }).all();
  });
  const answer = { links };
  printList(call, links, answer, {
    empty: "No task was made of a run. Make one with: assay suite add-from RUN",
    headings: ["SUITE", "TASK", "RUN", "CORRECTION", "BY"],
    row: ({ suiteId, version, taskId, runId, annotationId, by }) =>
      [`${suiteId}@${version}`, taskId, runId, annotationId, by].map(printable),
  });
}
