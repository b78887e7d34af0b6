import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { GateRules } from "../../../protocol/gates/gate-rules.ts";
import { APPROVAL_ACTIONS, type ApprovalAction } from "../../../protocol/gates/interrupt.ts";
import { reservedProblem } from "../../../protocol/identity/reserved-names.ts";
import { closed, matches, problemsOf, Type } from "../../../protocol/schema.ts";

/** What somebody answers at a plain gate, whatever of the accepted forms it came in. */
export interface PlainAnswer {
  readonly action: ApprovalAction;
  /** Given in the body; whether it counts is decided elsewhere. */
  readonly voter?: string;
  readonly feedback?: string;
  readonly refineFeedback?: Readonly<Record<string, unknown>>;
  /** Present, whatever its value, on `edit-accept`. */
  readonly edited?: { readonly data: unknown };
  /** Of `ask`. */
  readonly text?: string;
}

const Words = Type.String({ minLength: 1, maxLength: 20_000 });
const Who = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));

const RefineFeedback = Type.Object(
  {
    scope: Type.Enum(["whole", "section", "items"]),
    sectionPath: Type.Optional(Type.String({ maxLength: 2048 })),
    itemIds: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1000 })),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 })),
    text: Type.Optional(Type.String({ maxLength: 20_000 })),
  },
  { additionalProperties: true },
);

const Common = {
  feedback: Type.Optional(Type.String({ maxLength: 20_000 })),
  reason: Type.Optional(Type.String({ maxLength: 20_000 })),
  comment: Type.Optional(Type.String({ maxLength: 20_000 })),
  decidedBy: Who,
  decidedAt: Type.Optional(Type.String({ maxLength: 64 })),
  voter: Who,
};

const FORMS: Readonly<Record<ApprovalAction, ReturnType<typeof Type.Object>>> = {
  accept: Type.Object({ action: Type.Literal("accept"), ...Common }, closed),
  reject: Type.Object({ action: Type.Literal("reject"), ...Common }, closed),
  refine: Type.Object({ action: Type.Literal("refine"), refineFeedback: RefineFeedback, ...Common }, closed),
  "edit-accept": Type.Object(
    { action: Type.Literal("edit-accept"), editedArtifactData: Type.Unknown(), ...Common },
    closed,
  ),
  ask: Type.Object(
    { action: Type.Literal("ask"), question: Type.Optional(Words), answer: Type.Optional(Words), ...Common },
    closed,
  ),
};

/** Throws `validation_error`: the gate does not offer the action, or what goes with it is missing. */
export function plainAnswer(value: unknown, rules: GateRules): PlainAnswer {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    refuse("resumeValue must be an object with an action");
  }
  const given = modern(value as Readonly<Record<string, unknown>>, rules);
  const action = APPROVAL_ACTIONS.find((one) => one === given["action"]);
  if (action === undefined || !rules.actions.includes(action)) {
    refuse(`resumeValue.action must be one of ${rules.actions.join(", ")}`);
  }
  if (action === "edit-accept" && !Object.hasOwn(given, "editedArtifactData")) {
    refuse("resumeValue.editedArtifactData is required with edit-accept");
  }
  const form = FORMS[action as ApprovalAction];
  if (!matches(form, given)) {
    const [first] = problemsOf(form, given);
    refuse(`resumeValue${first?.path ?? ""} ${first?.problem ?? "does not match its action"}`);
  }
  const reserved = typeof given["voter"] === "string" ? reservedProblem(given["voter"]) : undefined;
  if (reserved !== undefined) refuse(`resumeValue.voter: ${reserved}`);
  return answerOf(action as ApprovalAction, given);
}

function answerOf(action: ApprovalAction, given: Readonly<Record<string, unknown>>): PlainAnswer {
  const feedback = (given["feedback"] ?? given["reason"] ?? given["comment"]) as string | undefined;
  const voter = given["voter"] as string | undefined;
  const shared = defined({ action, feedback, voter });
  if (action === "refine") return { ...shared, refineFeedback: given["refineFeedback"] as Record<string, unknown> };
  if (action === "edit-accept") return { ...shared, edited: { data: given["editedArtifactData"] } };
  if (action !== "ask") return shared;
  const text = (given["question"] ?? given["answer"]) as string | undefined;
  return { ...shared, text: text ?? refuse("resumeValue.question is required with ask") };
}

/** `decision: approved | rejected`, as older clients send it. */
function modern(value: Readonly<Record<string, unknown>>, rules: GateRules): Readonly<Record<string, unknown>> {
  const { decision, ...rest } = value;
  if (decision === undefined || rest["action"] !== undefined) return value;
  if (decision === "approved") return { ...rest, action: "accept" };
  if (decision !== "rejected") return value;
  const { feedback, ...others } = rest;
  const refines = typeof feedback === "string" && feedback !== "" && rules.actions.includes("refine");
  if (!refines) return { ...rest, action: "reject" };
  return { ...others, action: "refine", refineFeedback: { scope: "whole", text: feedback } };
}

function refuse(problem: string): never {
  throw new AppError("validation_error", { problem, problems: [{ path: "/resumeValue", problem }] });
}
