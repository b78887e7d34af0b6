import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Interrupt } from "../../../protocol/gates/interrupt.ts";
import { reservedProblem } from "../../../protocol/identity/reserved-names.ts";
import { matches, problemsOf, Type } from "../../../protocol/schema.ts";
import { compileSchema } from "../../schemas/decide/json-schema.ts";

/** What somebody answers at a governed gate. */
export interface GovernedAnswer {
  readonly decision: "granted" | "rejected";
  readonly reason?: string;
  readonly override: boolean;
  readonly voter?: string;
  /** Without `override` and `voter`: what the author's schema was asked about, and what the node gets. */
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
    refuse(`resumeValue${first?.path ?? ""} ${first?.problem ?? "must be { decision, reason? }"}`);
  }
  const { override, voter, ...rest } = given as Readonly<Record<string, unknown>>;
  const reserved = typeof voter === "string" ? reservedProblem(voter) : undefined;
  if (reserved !== undefined) refuse(`resumeValue.voter: ${reserved}`);
  const [problem] = resumeSchema === undefined ? [] : problemsWith(resumeSchema, rest);
  if (problem !== undefined) refuse(`resumeValue${problem.path} ${problem.problem}`);
  const { decision, reason } = rest as { decision: GovernedAnswer["decision"]; reason?: string };
  if (override === true && decision !== "granted") refuse("only a grant can override");
  if (override === true && (reason === undefined || reason.trim() === "")) refuse("an override needs a reason");
  return {
    decision,
    override: override === true,
    value: rest,
    ...defined({ reason }),
    ...(voter === undefined ? {} : { voter: voter as string }),
  };
}

/** Whether it can only be a no, whatever else is wrong with it. */
export function isRejection(value: unknown): boolean {
  const { action, decision } = (typeof value === "object" ? (value ?? {}) : {}) as Readonly<Record<string, unknown>>;
  return action === "reject" || decision === "rejected";
}

function withDecision(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { action, ...rest } = value as Readonly<Record<string, unknown>>;
  if (action === undefined) return value;
  const decision = DECISIONS[String(action)] ?? action;
  if (rest["decision"] !== undefined && rest["decision"] !== decision) refuse("action and decision disagree");
  return { ...rest, decision };
}

/** A schema that cannot be used lets nothing through. */
function problemsWith(schema: Readonly<Record<string, unknown>>, value: unknown) {
  try {
    return compileSchema(schema, "resumeSchema")(value);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ path: "", problem: "cannot be checked: the gate's resumeSchema is not usable" }];
  }
}

function refuse(problem: string): never {
  throw new AppError("INVALID_RESUME_VALUE", { problem });
}
