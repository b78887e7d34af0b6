import type { Setting } from "./settings.ts";

/** Settings of the audit chain. Rows of the table in `settings.ts`. */
export const AUDIT_SETTINGS = {
  auditKey: {
    group: "Audit",
    type: "path",
    value: "FILE",
    summary: "The Ed25519 private key (PEM) that signs audit checkpoints; without it one is kept in the database.",
  },
  auditAnchor: {
    group: "Audit",
    type: "path",
    value: "DIR",
    summary:
      "The folder that remembers the last signed audit entry of each tenant, so that nothing behind it is signed; " +
      "with --audit-key, that file's name and .anchors unless set.",
  },
  auditCheckpointEntries: {
    type: "integer",
    min: 1,
    value: "N",
    group: "Audit",
    default: 1000,
    max: 100_000,
    summary: "Audit entries after which a checkpoint is signed.",
  },
  auditCheckpointSeconds: {
    type: "integer",
    unit: "seconds",
    min: 1,
    value: "SECONDS",
    group: "Audit",
    default: 300,
    max: 86_400,
    summary: "Time after which new audit entries are covered by a checkpoint in any case.",
  },
  auditRootUrl: {
    group: "Audit",
    type: "text",
    value: "URL",
    summary:
      "Where each signed root of an audit log is sent, so that a copy is kept elsewhere; needs --audit-root-secret.",
  },
  auditRootSecret: {
    group: "Audit",
    type: "text",
    secret: true,
    value: "SECRET",
    summary: "What messages to --audit-root-url are signed with, 16 characters or more; rather set in the environment.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
