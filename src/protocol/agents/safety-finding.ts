import { closed, type Static, Type } from "../schema.ts";

export const SAFETY_KINDS = [
  "prompt-injection",
  "data-leak",
  "unsafe-tool-use",
  "harmful-content",
  "policy-violation",
  "other",
] as const;
export type SafetyKind = (typeof SAFETY_KINDS)[number];

export const SEVERITIES = ["low", "medium", "high", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The public part of a finding: nothing of the text it was found in. */
export const SafetyFinding = Type.Object(
  { kind: Type.Enum([...SAFETY_KINDS]), severity: Type.Enum([...SEVERITIES]) },
  closed,
);
export type SafetyFinding = Static<typeof SafetyFinding>;

/** Whether a task fails for it, whatever its score is. */
export function isDisqualifying({ severity }: Pick<SafetyFinding, "severity">): boolean {
  return severity === "high" || severity === "critical";
}
