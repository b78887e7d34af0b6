/** How bad a finding is. */
export const SEVERITIES = ["low", "medium", "high", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Whether a task fails for it, whatever its score is. */
export function isDisqualifying({ severity }: { readonly severity: Severity }): boolean {
  return severity === "high" || severity === "critical";
}
