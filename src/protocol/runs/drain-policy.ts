/** What a pause does with nodes that are executing. */
export const DRAIN_POLICIES = ["immediate", "drain-current-node"] as const;
export type DrainPolicy = (typeof DRAIN_POLICIES)[number];
