import { blob, int, json, jsonText, type Row, table, text, time } from "./table.ts";

export const hostSecrets = table("host_secrets", { name: text(), value: text() }, { key: ["name"] });

/** The row that `ping` writes, to learn whether writing works. */
export const hostProbes = table("host_probes", { name: text(), at: time(), filler: blob().orNull }, { key: ["name"] });

/** Outcomes of requests with an idempotency key. */
export const idempotency = table(
  "idempotency",
  {
    tenant: text(),
    operation: text(),
    idem_key: text().as("key"),
    digest: text(),
    state: text<"pending" | "completed" | "terminal-failure" | "retryable-failure">(),
    status: int().orNull,
    headers: json<Readonly<Record<string, string>>>().orNull,
    body: jsonText().orNull,
    lease_owner: text().orNull,
    lease_until: time().orNull,
    expires_at: time(),
  },
  { key: ["tenant", "operation", "idem_key"] },
);
export type IdempotencyTable = Row<typeof idempotency>;
