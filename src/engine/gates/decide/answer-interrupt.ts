import { AppError, validationError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import type { Voter } from "../../../protocol/gates/gate-rules.ts";
import type { ApprovalAction, Interrupt } from "../../../protocol/gates/interrupt.ts";
import { isObject } from "../../../protocol/own.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import { compileSchema } from "../../schemas/decide/json-schema.ts";
import { closeInterrupt } from "./close-interrupt.ts";

/** The events of an answer to an interrupt that is not an approval. Throws `validation_error` and `correlation_mismatch`. */
export function answerInterrupt(
  interrupt: Interrupt,
  value: unknown,
  by: Pick<Voter, "principal" | "kind">,
  at: string,
): EventDraft[] {
  const who = { resolvedBy: by.principal, resolvedByKind: by.kind };
  const answered = (resumeValue: unknown) =>
    closeInterrupt(interrupt, { outcome: "answered", ...who, resumeValue, at });
  checkSchema(interrupt, value);
  requireNoOutput(interrupt, value);
  switch (interrupt.kind) {
    case "clarification": {
      const answers = answersOf(interrupt, value);
      const { nodeId } = interrupt;
      const resolved: EventDraft = {
        type: "clarification.resolved",
        nodeId,
        payload: { nodeId, answers, answeredBy: by.principal },
      };
      return [resolved, ...answered({ answers })];
    }
    case "external-event":
      if (!correlates(interrupt, value)) throw new AppError("correlation_mismatch", { nodeId: interrupt.nodeId });
      return answered({ ...(value as object), ...(interrupt.data["correlation"] as object) });
    case "low-confidence":
      requireRatification(interrupt, value);
      return answered(value);
    default:
      return answered(value);
  }
}

/** Actions that are refused: taken as an answer, they would let the decision happen although they ask for another one. */
const NO_RATIFICATION = ["refine", "edit-accept", "ask"] as const satisfies readonly ApprovalAction[];

function requireRatification({ resumeSchema }: Interrupt, value: unknown): void {
  if (resumeSchema !== undefined || !isObject(value)) return;
  const action = value["action"];
  if (!NO_RATIFICATION.some((one) => one === action)) return;
  refuse("/action", `must be accept or reject, and is ${String(action)}; or answer with a decision of your own`);
}

/**
 * The members of an answer are the outputs of its node. A member named `output` would be all that a condition on `output` sees, so the answer
 * could say one thing to the condition before a gate and another to the nodes after it.
 */
function requireNoOutput({ resumeSchema, data }: Interrupt, value: unknown): void {
  if (!hasOutput(value) || hasOutput(resumeSchema?.["properties"]) || hasOutput(data["correlation"])) return;
  refuse("/output", "is taken by conditions for the whole answer: use another name, or name it in the resumeSchema");
}

function hasOutput(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "output");
}

export function checkSchema({ resumeSchema }: Interrupt, value: unknown): void {
  if (resumeSchema === undefined) return;
  const [problem] = compileSchema(resumeSchema, "resumeSchema")(value);
  if (problem !== undefined) refuse(problem.path, problem.problem);
}

/**
 * Whether an event has every key of the correlation with the same value. An event with the `correlationId` of the wait may leave keys out,
 * and must not contradict any.
 */
function correlates({ data, correlationId }: Interrupt, event: unknown): boolean {
  const wanted = data["correlation"];
  if (!isObject(wanted) || !isObject(event)) return false;
  const byId = correlationId !== undefined && event["correlationId"] === correlationId;
  return Object.entries(wanted).every(([key, value]) =>
    Object.hasOwn(event, key) ? deepEqual(event[key], value) : byId,
  );
}

interface Question {
  readonly id: string;
  readonly question: string;
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** Answers by question id, from an object or from a list of `{ id, answer }`: one for each question, and no others. */
function answersOf({ data }: Interrupt, value: unknown): Record<string, unknown> {
  const questions = (data["questions"] ?? []) as readonly Question[];
  const answers = byId((value as { answers?: unknown } | null)?.answers);
  for (const id of answers.keys()) {
    if (!questions.some((question) => question.id === id))
      refuse(`/answers/${id}`, "answers no question that was asked");
  }
  for (const { id, schema } of questions) {
    if (!answers.has(id)) refuse("/answers", `lacks an answer to question ${id}`);
    if (schema === undefined) continue;
    const [problem] = compileSchema(schema, `the schema of question ${id}`)(answers.get(id));
    if (problem !== undefined) refuse(`/answers/${id}${problem.path}`, problem.problem);
  }
  return Object.fromEntries(answers);
}

function byId(given: unknown): Map<string, unknown> {
  if (Array.isArray(given)) {
    const pairs = given.map((one: unknown): [string, unknown] => {
      const { id, answer } = (one ?? {}) as { id?: unknown; answer?: unknown };
      if (typeof id !== "string" || answer === undefined) return refuse("/answers", "must be a list of { id, answer }");
      return [id, answer];
    });
    if (new Set(pairs.map(([id]) => id)).size < pairs.length) refuse("/answers", "answers a question twice");
    return new Map(pairs);
  }
  if (typeof given === "object" && given !== null) return new Map(Object.entries(given));
  return refuse("", "must be { answers }, with an answer to each question");
}

function refuse(path: string, problem: string): never {
  const where = `/resumeValue${path}`;
  throw validationError(`${where} ${problem}`, { problems: [{ path: where, problem }] });
}
