import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { idSource } from "../../engine/host.ts";
import { growFromTape } from "../../evals/add-from/add-from-tape.ts";
import { grownText } from "../../evals/add-from/grow-suite.ts";
import { TapeJudgments } from "../../evals/add-from/tape-tasks.ts";
import { taskHash } from "../../evals/add-from/task-links.ts";
import type { TextOf } from "../../evals/calibration/gold-of-run.ts";
import { loadSuite, requireSuite } from "../../evals/suite/load-suite.ts";
import { digestOf } from "../../formats/tapes/digest.ts";
import { loadTape } from "../../formats/tapes/read-tape.ts";
import { isBodyHash, isStored } from "../../formats/tapes/tape.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { readReview, reportProblems } from "../tapes/files/read-review.ts";
import { bodiesOf, sidecarOf, watchedBytes } from "../tapes/files/tape-files.ts";
import { processScrubber } from "../wiring/process-scrubber.ts";
import type { ADD_FROM_FLAGS } from "./commands.ts";
import { linksBeside, proofText, suiteTarget, writeSuite } from "./suite-target.ts";

type AddFromCall = Call<typeof ADD_FROM_FLAGS>;

/** Needs no server: the tape, its sidecar and the suite are files. */
export async function addFromTape(call: AddFromCall): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const tape = flags.tape ?? "";
  const [sidecar = sidecarOf(tape)] = args;
  const target = suiteTarget(flags.to, flags.id);
  if (target.type === "kept") throw unusableInput("tasks of a tape go into a file: --to SUITE.json");
  if (flags.annotation !== undefined || flags.taskId !== undefined) {
    throw unusableInput(
      "--annotation and --task-id go with a run; with a tape every correction in the sidecar is taken",
    );
  }
  const judgments = new TapeJudgments();
  const { problems } = await readReview({ tape, sidecar }, io, (row) => judgments.add(row));
  if (problems > 0) {
    reportProblems(problems, io);
    throw unusableInput(`${sidecar} does not fit ${tape}; no task was made`);
  }
  const loaded = await loadTape(tape, watchedBytes(tape, io));
  const digest = await digestOf(loaded.records);
  const scrubber = await processScrubber(config);
  const base =
    target.type === "new"
      ? { newSuiteId: target.suiteId }
      : requireSuite(loadSuite(Buffer.from(target.text), { scrubber }), `${target.file} is no suite: `).suite;
  const host = { scrubber, nowMs: Date.now, newId: idSource(Date.now) };
  const judged = await judgments.tasks(loaded, bodiesBeside(tape));
  const grown = await growFromTape(host, base, judged, `tape-${digest.slice(0, 12)}`);
  const { suite, added } = grown;
  const tasks = added.map(({ task }) => task);
  const text = target.type === "new" ? `${JSON.stringify(suite, null, 2)}\n` : grownText(target.text, suite, tasks);
  requireSuite(loadSuite(Buffer.from(text), { scrubber }), "the suite with the new tasks");
  const at = new Date().toISOString();
  const links = added.map(({ task, eventId, row }) => ({
    suiteId: suite.suiteId,
    version: suite.version,
    taskId: task.taskId,
    taskSha256: taskHash(task),
    tape,
    tapeSha256: digest,
    eventId: String(eventId),
    row,
    at,
  }));
  if (!flags.check) await writeSuite(target, text, links);
  if (json) io.out(JSON.stringify(shown(grown, { file: target.file, text, links: flags.check ? [] : links })));
  else print(grown, target.file, flags.check, io);
}

type Grown = Awaited<ReturnType<typeof growFromTape>>;

function shown({ suite, added, leftOut, notes }: Grown, more: object): object {
  const { suiteId, version, tasks } = suite;
  return {
    suiteId,
    version,
    taskCount: tasks.length,
    added: added.map(({ eventId, ...rest }) => ({ ...rest, eventId: String(eventId) })),
    leftOut: leftOut.map(({ eventId, reason }) => ({ eventId: String(eventId), reason })),
    notes,
    ...more,
  };
}

function print({ suite, added, leftOut, notes }: Grown, file: string, checkOnly: boolean, io: Io): void {
  const { paint } = io;
  for (const { task, row, recorded, correction } of added) {
    io.out(`Task ${paint.bold(task.taskId)} from row ${printable(row)}`);
    io.out(proofText({ recorded, correction }, paint));
  }
  for (const { eventId, reason } of leftOut)
    io.err(`${paint.yellow("!")} Event ${eventId} is left out: ${printable(reason)}.`);
  for (const note of notes) io.err(`${paint.yellow("!")} ${printable(note)}`);
  const ref = `${suite.suiteId}@${suite.version}, ${formatCount(suite.tasks.length, "task")}`;
  if (checkOnly) io.out(`They would be in ${ref}. Nothing was written.`);
  else io.out(`${paint.green("✓")} ${printable(file)}: ${ref}; links in ${printable(linksBeside(file))}`);
}

function bodiesBeside(tape: string): TextOf {
  return async (body) => {
    if (!isStored(body)) return body.text;
    if (!isBodyHash(body.content_hash)) return undefined;
    const bytes = await readFile(join(bodiesOf(tape), body.content_hash)).catch(() => undefined);
    return bytes !== undefined && isUtf8(bytes) ? bytes.toString("utf8") : undefined;
  };
}
