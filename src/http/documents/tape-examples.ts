import type { TAPE_OPERATIONS } from "../../protocol/tapes/operations.ts";

const TAPE = [
  '{"type":"header","version":1,"harn_version":"0.9.0"}',
  '{"type":"record","seq":0,"virtual_time_ms":1767225600000,"monotonic_ms":0,"kind":{"kind":"clock_sleep","duration_ms":100}}',
];

/** Short bodies to try the routes of tapes with. */
export const TAPE_EXAMPLES: Partial<Record<keyof typeof TAPE_OPERATIONS, unknown>> = {
  importTape: { tape: `${TAPE.join("\n")}\n`, name: "nightly.tape", agentId: "writer" },
  storeTapeBody: {
    hash: "d74981efa70a0c880b8d8c1985d075dbcbf679b99a5f9914e5aaf96b831a9e24",
    base64: "aGVsbG8gd29ybGQ=",
  },
};
