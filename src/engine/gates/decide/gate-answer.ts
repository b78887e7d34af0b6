import { defined } from "../../../protocol/defined.ts";
import { AppError, validationError } from "../../../protocol/errors.ts";
import type { GateRules } from "../../../protocol/gates/gate-rules.ts";
import { APPROVAL_ACTIONS, type ApprovalAction, type Interrupt } from "../../../protocol/gates/interrupt.ts";
import { reservedProblem } from "../../../protocol/identity/scopes.ts";
import { isObject } from "../../../protocol/own.ts";
import { closed, matches, problemsOf, Type } from "../../../protocol/schema.ts";
import { compileSchema } from "../../schemas/decide/json-schema.ts";

/** An answer at a plain gate. */
export interface PlainAnswer {
  readonly action: ApprovalAction;
  /** As named in the body; whether it counts depends on the key. */
  readonly voter?: string;
  readonly feedback?: string;
  readonly refineFeedback?: Readonly<Record<string, unknown>>;
  /** Present, whatever its value, on `edit-accept`. */
  readonly edited?: { readonly data: unknown };
  /** Of `ask`. */
  readonly text?: string;
}

const Text = Type.String({ minLength: 1, maxLength: 20_000 });
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
    { action: Type.Literal("ask"), question: Type.Optional(Text), answer: Type.Optional(Text), ...Common },
    closed,
  ),
};

/** Throws `validation_error` where the gate does not offer the action, or members of the action are missing. */
export function plainAnswer(value: unknown, rules: GateRules): PlainAnswer {
  if (!isObject(value)) return refuse("resumeValue must be an object with an action");
  const given = modern(value, rules);
  const action = APPROVAL_ACTIONS.find((one) => one === given["action"]);
  if (action === undefined || !rules.actions.includes(action)) {
    return refuse(`resumeValue.action must be one of ${rules.actions.join(", ")}`);
  }
  if (action === "edit-accept" && !Object.hasOwn(given, "editedArtifactData")) {
    refuse("resumeValue.editedArtifactData is required with edit-accept");
  }
  const form = FORMS[action];
  if (!matches(form, given)) {
    const [first] = problemsOf(form, given);
    refuse(`resumeValue${first?.path ?? ""} ${first?.problem ?? "does not match its action"}`);
  }
  const reserved = typeof given["voter"] === "string" ? reservedProblem(given["voter"]) : undefined;
  if (reserved !== undefined) refuse(`resumeValue.voter: ${reserved}`);
  return answerOf(action, given);
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

/** The form of older clients, `decision: approved | rejected`, as an action. */
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
  throw validationError(problem, { problems: [{ path: "/resumeValue", problem }] });
}

/** An answer at a governed gate. */
export interface GovernedAnswer {
  readonly decision: "granted" | "rejected";
  readonly reason?: string;
  readonly override: boolean;
  readonly voter?: string;
  /** The answer without `override` and `voter`: the value that the author's schema is checked against, and that the node gets. */
  readonly value: Readonly<Record<string, unknown>>;
}

const Form = Type.Object(
  {
    decision: Type.Enum(["granted", "rejected"]),
    reason: Type.Optional(Type.String({ maxLength: 20_000 })),
    override: Type.Optional(Type.Boolean()),
    voter: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  },
  { additionalProperties: true },
);

const DECISIONS: Readonly<Record<string, string>> = { accept: "granted", reject: "rejected" };

/** Throws `INVALID_RESUME_VALUE`. `{ action: accept | reject }` is taken as granted or rejected. */
export function governedAnswer(value: unknown, { resumeSchema }: Pick<Interrupt, "resumeSchema">): GovernedAnswer {
  const given = withDecision(value);
  if (!matches(Form, given)) {
    const [first] = problemsOf(Form, given);
    refuseValue(`resumeValue${first?.path ?? ""} ${first?.problem ?? "must be { decision, reason? }"}`);
  }
  const { override, voter, ...rest } = given as Readonly<Record<string, unknown>>;
  const reserved = typeof voter === "string" ? reservedProblem(voter) : undefined;
  if (reserved !== undefined) refuseValue(`resumeValue.voter: ${reserved}`);
  const [problem] = resumeSchema === undefined ? [] : problemsWith(resumeSchema, rest);
  if (problem !== undefined) refuseValue(`resumeValue${problem.path} ${problem.problem}`);
  const { decision, reason } = rest as { decision: GovernedAnswer["decision"]; reason?: string };
  if (override === true && decision !== "granted") refuseValue("only a grant can override");
  if (override === true && (reason === undefined || reason.trim() === "")) refuseValue("an override needs a reason");
  return {
    decision,
    override: override === true,
    value: rest,
    ...defined({ reason }),
    ...(voter === undefined ? {} : { voter: voter as string }),
  };
}

/** Whether an answer, valid or not, is a rejection. */
export function isRejection(value: unknown): boolean {
  return isObject(value) && (value["action"] === "reject" || value["decision"] === "rejected");
}

function withDecision(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { action, ...rest } = value;
  if (action === undefined) return value;
  const decision = DECISIONS[String(action)] ?? action;
  if (rest["decision"] !== undefined && rest["decision"] !== decision) refuseValue("action and decision disagree");
  return { ...rest, decision };
}

/** A schema that cannot be used accepts no value. */
function problemsWith(schema: Readonly<Record<string, unknown>>, value: unknown) {
  try {
    return compileSchema(schema, "resumeSchema")(value);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ path: "", problem: "cannot be checked: the gate's resumeSchema is not usable" }];
  }
}

function refuseValue(problem: string): never {
  throw new AppError("INVALID_RESUME_VALUE", { problem });
}
