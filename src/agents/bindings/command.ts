import { basename } from "node:path";
import { lastWords, type ProgramEnd, type ProgramLimits, runProgram } from "../../engine/programs/run-program.ts";
import { jsonOrText, parsedJson } from "../../formats/json/check-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import type { AgentAnswer, AgentTask, Binding, Watcher } from "../binding.ts";
import { type ToolAccess, type ToolGateway, toolsProblem, withTools } from "../gateway/tool-gateway.ts";
import { withoutToken } from "../gateway/tool-offer.ts";
import { failed, withOutput } from "./answers.ts";
import { type Report, readReport } from "./reported-usage.ts";

export interface CommandSettings {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly killMs: number;
  /** Names what runs, for those who want to take its earlier results again. */
  readonly version?: string | undefined;
}

export const COMMAND_DEFAULTS = { timeoutMs: 120_000, maxOutputBytes: 1024 * 1024, killMs: 2_000 } as const;

export interface CommandWorld {
  /** The environment of the program, in addition to the variables of its task. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly scrubText: (text: string) => string;
  /** Offers the program its tools; absent: it is offered none. */
  readonly gateway?: ToolGateway | undefined;
}

const REPORT_BYTES = 64 * 1024;

/**
 * An agent that is a program. Its stdin is the input as one line of JSON and nothing else. What it prints is the output: the JSON that
 * it is, or else the text.
 */
export function commandBinding(settings: CommandSettings, { environment, scrubText, gateway }: CommandWorld): Binding {
  const { program, args, directory, timeoutMs, maxOutputBytes, killMs, version } = settings;
  const limits: ProgramLimits = { timeMs: timeoutMs, outputBytes: maxOutputBytes, sideBytes: REPORT_BYTES, killMs };
  const name = basename(program);
  return {
    kind: "command",
    provider: "command",
    model: name,
    ...(version === undefined ? {} : { fingerprint: `command:${sha256(JSON.stringify({ program, args, version }))}` }),
    ...toolsProblem(gateway),
    call: (task, watch) =>
      withTools(gateway, task, async (access) => {
        const end = await runProgram({
          program,
          args,
          directory,
          environment: { ...environment, ...idsOf(task), ...variablesOf(access) },
          input: `${JSON.stringify(task.input ?? null)}\n`,
          limits,
          signal: task.signal,
        });
        return answerOf(masked(end, access), settings, scrubText, watch);
      }),
  };
}

/** Both are always set or removed: a program never inherits those of an outer invocation. */
function variablesOf(access: ToolAccess): Record<string, string | undefined> {
  return { ASSAY_TOOLS_URL: access?.url, ASSAY_TOOLS_TOKEN: access?.token };
}

/** The end of a program without the token in anything that it wrote. */
function masked(end: ProgramEnd, access: ToolAccess): ProgramEnd {
  if (access === undefined) return end;
  const { token } = access;
  const bytes = (given: Buffer) =>
    given.includes(token) ? Buffer.from(withoutToken(given.toString("utf8"), token)) : given;
  if (end.type === "ended") {
    const { stdout, side, stderr } = end;
    return { ...end, stdout: bytes(stdout), side: bytes(side), stderr: withoutToken(stderr, token) };
  }
  return end.type === "too-slow" ? { ...end, stderr: withoutToken(end.stderr, token) } : end;
}
function idsOf({ taskId, runId, trial }: AgentTask): Record<string, string | undefined> {
  return { ASSAY_TASK_ID: taskId, ASSAY_RUN_ID: runId, ASSAY_TRIAL: trial === undefined ? undefined : String(trial) };
}

function answerOf(
  end: ProgramEnd,
  { program, timeoutMs, maxOutputBytes }: CommandSettings,
  scrubText: (text: string) => string,
  watch: Watcher,
): AgentAnswer {
  const stderrNote = (stderr: string) => (stderr.trim() === "" ? "" : `: ${lastWords(stderr, scrubText)}`);
  switch (end.type) {
    case "not-started":
      return failed("agent_unreachable", end.problem, false);
    case "too-slow":
      return failed(
        "agent_timeout",
        `${program} took longer than ${timeoutMs} ms and was ended${stderrNote(end.stderr)}`,
      );
    case "too-much": {
      const limit = end.where === "stdout" ? maxOutputBytes : REPORT_BYTES;
      return failed("agent_output_too_large", `${program} wrote more than ${limit} bytes to ${end.where}`);
    }
    case "ended": {
      const reported = reportIn(end.side, { provider: "command", model: basename(program) }, scrubText);
      if (reported.ok) for (const { usage } of reported.reports) if (usage !== undefined) watch.usage(usage);
      if (end.exitCode !== 0) {
        const how = end.exitCode === null ? `signal ${end.signalName}` : `exit code ${end.exitCode}`;
        return failed("agent_crashed", `${program} ended with ${how}${stderrNote(end.stderr)}`);
      }
      if (!reported.ok) {
        const problem = `${program} wrote no usable report to file descriptor 3: ${reported.problem}`;
        return failed("agent_output_invalid", problem);
      }
      return completed(end.stdout, reported.reports, program);
    }
  }
}

function completed(stdout: Buffer, reports: readonly Report[], program: string): AgentAnswer {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(stdout).trim();
  } catch {
    return failed("agent_output_invalid", `what ${program} printed is not UTF-8`);
  }
  const confidence = reports.findLast((one) => one.confidence !== undefined)?.confidence;
  return withOutput(jsonOrText(text), confidence === undefined ? {} : { confidence });
}

type Reports =
  | { readonly ok: true; readonly reports: readonly Report[] }
  | { readonly ok: false; readonly problem: string };

/** Reads one line for the whole invocation, or one for each model call. */
function reportIn(
  side: Buffer,
  from: { provider: string; model: string },
  scrubText: (text: string) => string,
): Reports {
  const reports: Report[] = [];
  for (const line of side.toString("utf8").split("\n")) {
    if (line.trim() === "") continue;
    const value = parsedJson(line);
    if (value === undefined) return { ok: false, problem: "it is not JSON" };
    const read = readReport(value, from, scrubText);
    if (!read.ok) return read;
    reports.push(read.report);
  }
  return { ok: true, reports };
}
