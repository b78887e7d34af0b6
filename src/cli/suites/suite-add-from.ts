import { AppError } from "../../protocol/errors.ts";
import type { AddedTask, AddFromRequest, Proof } from "../../protocol/evals/suite-growth.ts";
import { withBackend } from "../evals/choose-backend.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { proofText } from "./proof-text.ts";
import type { ADD_FROM_FLAGS } from "./suite-growth-commands.ts";
import { linksBeside, type SuiteTarget, suiteTarget, writeSuite } from "./suite-target.ts";

export async function suiteAddFrom(call: Call<typeof ADD_FROM_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  if (flags.tape !== undefined) return (await import("./add-from-tape.ts")).addFromTape(call);
  const [named] = args;
  if (named === undefined) throw refuse("name the run that was corrected, or a tape with --tape TAPE");
  const target = suiteTarget(flags.to, flags.id);
  const request: Omit<AddFromRequest, "runId"> = {
    ...(flags.annotation === undefined ? {} : { annotationId: flags.annotation }),
    ...(flags.taskId === undefined ? {} : { taskId: flags.taskId }),
    ...groundOf(target),
    ...(flags.check ? { check: true } : {}),
  };
  const { added, runId } = await withBackend(call, async ({ client }) => {
    const runId = await evalNamed(client, named);
    return { added: await client.suites.addFromRun({ ...request, runId }), runId };
  }).catch((error: unknown) => {
    if (!json) tellProof(error, io);
    throw error;
  });
  if (!flags.check && target.type !== "kept") await writeSuite(target, added.text, added.link ? [added.link] : []);
  if (json) io.out(JSON.stringify(target.type === "kept" ? added : { ...added, file: target.file }));
  else tell(added, runId, target, io);
}

function groundOf(target: SuiteTarget): Pick<AddFromRequest, "suite" | "suiteText" | "newSuiteId"> {
  if (target.type === "file") return { suiteText: target.text };
  if (target.type === "new") return { newSuiteId: target.suiteId };
  return target.ref === undefined ? {} : { suite: target.ref };
}

function tell(added: AddedTask, runId: string, target: SuiteTarget, io: Io): void {
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

/** Why a task guards nothing is best seen. */
function tellProof(error: unknown, io: Io): void {
  if (!(error instanceof AppError)) return;
  const proof = error.details["proof"] as { recorded: Proof; correction?: Proof } | undefined;
  if (proof !== undefined) io.err(proofText(proof, io.paint));
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
