import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import { AGENT_FILE, opencodeAgentFile } from "../../reviews/opencode-agent.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import { writeOutput } from "../files/write-file.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { REVIEW_SETUP_FLAGS } from "./review-setup-commands.ts";

export async function reviewSetup({ args, flags, json, io }: Call<typeof REVIEW_SETUP_FLAGS>): Promise<number> {
  const [tool = ""] = args;
  refuseUnknown(tool);
  const project = flags.dir ?? ".";
  await refuseMissing(project);
  const file = join(project, AGENT_FILE);
  const wanted = opencodeAgentFile();
  const present = await contentOf(file);
  const result = await place(file, wanted, present, flags.force, io);
  if (json) io.out(JSON.stringify({ tool, agent: DEFAULT_AGENT, file: resolve(file), result }));
  else if (result !== "kept") io.out(printable(file));
  if (!json) for (const line of said(result, project)) io.err(line);
  return result === "kept" ? EXIT.invalid : EXIT.fine;
}

type Result = "written" | "replaced" | "unchanged" | "kept";

async function place(
  file: string,
  wanted: string,
  present: string | undefined,
  force: boolean,
  io: Io,
): Promise<Result> {
  if (present === wanted) return "unchanged";
  if (present !== undefined && !force && !(await mayReplace(file, io))) return "kept";
  await writeOutput(file, [wanted]);
  return present === undefined ? "written" : "replaced";
}

async function mayReplace(file: string, { ask }: Io): Promise<boolean> {
  const shown = printable(file);
  if (ask === undefined) {
    throw new AppError("unusable_input", {
      problem: `${shown} says something else, and nobody can be asked here whether to replace it; say so with --force`,
    });
  }
  const answer = await ask(`${shown} says something else. Replace it? [y/N] `);
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

const TOOLS = ["opencode"];

function refuseUnknown(tool: string): void {
  if (TOOLS.includes(tool)) return;
  const meant = closestTo(tool, TOOLS);
  const hint = meant === undefined ? `; use ${TOOLS.join(", ")}` : `; did you mean ${meant}?`;
  throw new AppError("unusable_input", { problem: `nothing is known about setting up ${printable(tool)}${hint}` });
}

/** A mistyped name must not leave a new directory behind. */
async function refuseMissing(project: string): Promise<void> {
  const found = await stat(project).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new AppError("unusable_input", { problem: `there is no directory ${printable(project)}` });
}

async function contentOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new AppError(
      "unusable_input",
      { problem: `${printable(file)} cannot be read: ${message}` },
      { cause: error },
    );
  }
}

function said(result: Result, project: string): string[] {
  if (result === "kept") return ["assay: nothing was changed."];
  const where = project === "." ? "" : ` in ${printable(project)}`;
  const assay = programName();
  return [
    result === "unchanged"
      ? "It was there already, word for word."
      : `The agent ${DEFAULT_AGENT} is known${where} now.`,
    "",
    "Next:",
    `  ${"opencode agent list".padEnd(34)} # names it as primary`,
    `  ${`${assay} review start FILE`.padEnd(34)} # the first review; run it${where === "" ? " here" : where}`,
    `  ${`${assay} review instructions`.padEnd(34)} # what to tell your agent`,
    "",
    "It speaks through the model of your opencode configuration; a line `model: provider/name` in the file binds it to another.",
  ];
}
