import { deepEqual } from "../../engine/schemas/decide/deep-equal.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import { endOfObject, placesIn } from "../../formats/json/json-places.ts";
import { validationError } from "../../protocol/errors.ts";
import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import { goldenScore } from "../score/golden.ts";
import { compareVersions } from "../suite/suite-ref.ts";

export interface Grown {
  readonly suite: AgentEvalSuite;
  readonly task: EvalTask;
  readonly notes: readonly string[];
}

export interface GrowthAsked {
  /** Chosen by the caller; must not be in use. */
  readonly taskId?: string | undefined;
  /** The highest other version of the suite: the new version is above it. */
  readonly highest?: string | undefined;
}

/** A task that has no name yet. */
export interface TaskDraft extends Omit<EvalTask, "taskId"> {
  readonly name: string;
  /** An answer that passes the task. */
  readonly answer: unknown;
}

/** The next version of a suite, with one more task. Throws `validation_error` for a task that it has. */
export function growSuite(
  suite: AgentEvalSuite,
  draft: TaskDraft,
  { taskId: wanted, highest }: GrowthAsked = {},
): Grown {
  const { name, answer, ...rest } = draft;
  const same = suite.tasks.filter((task) => canonical(task.input) === canonical(rest.input));
  const twin = same.find((task) => canonical(task.expected) === canonical(rest.expected));
  if (twin !== undefined) throw validationError(`task ${twin.taskId} of the suite asks and expects the same already`);
  const taken = new Set(suite.tasks.map(({ taskId }) => taskId));
  if (wanted !== undefined && taken.has(wanted))
    throw validationError(`the suite has a task ${wanted}; name another one`);
  const task: EvalTask = { taskId: wanted ?? freeName(name, taken), ...rest };
  const others = same.filter(({ expected }) => refuses(expected, answer)).map(({ taskId }) => taskId);
  return {
    task,
    suite: {
      ...suite,
      version: nextVersion([suite.version, ...(highest === undefined ? [] : [highest])]),
      modes: withGolden(suite.modes),
      tasks: [...suite.tasks, task],
    },
    notes:
      others.length === 0
        ? []
        : [`Task ${others.join(", ")} asks the same and expects something else; no agent passes both.`],
  };
}

export const FIRST_VERSION = "0.1.0";

/** A suite of one task. */
export function newSuite(
  suiteId: string,
  { name, answer: _, ...rest }: TaskDraft,
  { taskId, agentId }: { readonly taskId?: string | undefined; readonly agentId?: string | undefined },
): Grown {
  const task: EvalTask = { taskId: taskId ?? freeName(name, new Set()), ...rest };
  const target = agentId === undefined ? {} : { targetAgentId: agentId };
  return { task, suite: { suiteId, version: FIRST_VERSION, ...target, modes: ["golden"], tasks: [task] }, notes: [] };
}

/** The minor number counts added tasks; authors raise the major number when tasks change their meaning. */
export function nextVersion(versions: readonly string[]): string {
  const [highest = "0.0.0"] = [...versions].sort((a, b) => compareVersions(b, a));
  const [major = "0", minor = "0"] = highest.split(".");
  return `${major}.${BigInt(minor) + 1n}.0`;
}

function refuses(expected: EvalTask["expected"], answer: unknown): boolean {
  return expected.kind === "golden" && goldenScore(expected.match, answer) === 0;
}

/** Every mode but `rubric` runs golden tasks. */
function withGolden(modes: readonly EvalMode[]): EvalMode[] {
  return modes.some((mode) => mode !== "rubric") ? [...modes] : [...modes, "golden"];
}

const NAME_LENGTH = 200;

function freeName(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, NAME_LENGTH);
  const base = plain === "" ? "task" : plain;
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}

function canonical(value: unknown): string {
  return canonicalJson(JSON.parse(JSON.stringify(value ?? null)));
}

/**
 * The text of a suite that has grown: the author's own, with another version and more tasks at the end, so that a comparison of the two
 * shows no more than that. Where that cannot be done, the whole suite written anew.
 */
export function grownText(text: string, suite: AgentEvalSuite, added: readonly EvalTask[]): string {
  const edited = edit(text, suite, added);
  return edited !== undefined && deepEqual(parsedJson(edited), suite) ? edited : `${JSON.stringify(suite, null, 2)}\n`;
}

function edit(text: string, { version, tasks }: AgentEvalSuite, added: readonly EvalTask[]): string | undefined {
  const last = `/tasks/${tasks.length - added.length - 1}`;
  const places = placesIn(text, ["/version", last]);
  const starts = [places.get("/version"), places.get(last)].map((place) => place && offsetOf(text, place));
  const [versionAt, lastAt] = starts;
  if (versionAt === undefined || lastAt === undefined || versionAt === lastAt) return undefined;
  const end = text[lastAt] === "{" ? endOfObject(text, lastAt) : undefined;
  if (end === undefined) return undefined;
  const indent = /[ \t]*$/.exec(text.slice(0, lastAt))?.[0] ?? "";
  const inserted = added
    .map((task) => `,\n${indent}${JSON.stringify(task, null, 2).replaceAll("\n", `\n${indent}`)}`)
    .join("");
  const grown = `${text.slice(0, end)}${inserted}${text.slice(end)}`;
  const member = /"version"\s*:\s*"[^"\\]*"/y;
  const at = versionAt < lastAt ? versionAt : versionAt + inserted.length;
  member.lastIndex = at;
  const found = member.exec(grown)?.[0];
  if (found === undefined) return undefined;
  const raised = found.replace(/"[^"\\]*"$/, () => JSON.stringify(version));
  return `${grown.slice(0, at)}${raised}${grown.slice(at + found.length)}`;
}

function offsetOf(text: string, { line, column }: { readonly line: number; readonly column: number }): number {
  let start = 0;
  for (let n = 1; n < line; n++) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}
