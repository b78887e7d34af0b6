import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import { scoreGolden } from "../score/golden.ts";
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
  if (twin !== undefined) throw refuse(`task ${twin.taskId} of the suite asks and expects the same already`);
  const taken = new Set(suite.tasks.map(({ taskId }) => taskId));
  if (wanted !== undefined && taken.has(wanted)) throw refuse(`the suite has a task ${wanted}; name another one`);
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
  return expected.kind === "golden" && scoreGolden(expected.match, answer).score === 0;
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

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
