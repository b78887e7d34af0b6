import { type AnyCommand, CLIENT, command, DATABASE, type Flags } from "../program/command.ts";

export const AUDIT_VERIFY_FLAGS = {
  file: { type: "text", value: "FILE", summary: "An export made by `audit export`, checked on this machine." },
  against: {
    type: "text",
    value: "FILE",
    summary: "An export made earlier: the server's log must contain all of it.",
  },
  publicKey: {
    type: "text",
    value: "BASE64",
    summary:
      "With --file or --against: the checkpoint key you trust, in place of the one the export names. Keys that signed before it " +
      "follow after commas, newest first.",
  },
} as const satisfies Flags;

export const auditVerify = command({
  name: "audit verify",
  summary: "Check the audit chain and its signed checkpoints.",
  about:
    "Asks the server to walk the whole chain of your tenant or, with --file, checks an export without any server. With --against, an " +
    "export is held against the server's log: a log that was cut off, rolled back or written anew lacks a part of it.",
  args: [],
  flags: AUDIT_VERIFY_FLAGS,
  settings: CLIENT,
  examples: ["assay audit verify", "assay audit verify --against audit.jsonl", "assay audit verify --file audit.jsonl"],
  exits: {
    0: "the chain and every checkpoint are valid, and all of the export is in it",
    1: "they are not",
    5: "the host does not serve its audit chain",
  },
  load: async () => (await import("./audit-verify.ts")).auditVerify,
});

export const AUDIT_EXPORT_FLAGS = {
  force: { type: "switch", summary: "Replace the file when it exists." },
} as const satisfies Flags;

export const auditExport = command({
  name: "audit export",
  summary: "Write the audit chain of your tenant to a file, as JSON lines.",
  args: [{ name: "FILE", summary: "The file to write; compressed when its name ends in .gz." }],
  flags: AUDIT_EXPORT_FLAGS,
  settings: CLIENT,
  examples: ["assay audit export audit.jsonl", "assay audit export audit.jsonl.gz --force"],
  load: async () => (await import("./audit-export.ts")).auditExport,
});

export const AUDIT_ACCEPT_FLAGS = {
  tenant: {
    type: "text",
    value: "ID",
    summary: "Only the log of this tenant; of every tenant with an anchor unless given.",
  },
  reason: {
    type: "text",
    value: "TEXT",
    summary: "Why; it is recorded in the audit log. Without it nothing is changed.",
  },
} as const satisfies Flags;

export const auditAccept = command({
  name: "audit accept",
  summary: "Accept an audit log that lacks what was signed, after a backup was restored.",
  about:
    "Opens the database and the anchors of the signing key, shows which logs do not continue what was signed and, with --reason, records that " +
    "they are accepted as they are now: in the log itself, and in the anchor, which keeps what was given up. Then checkpoints are signed " +
    "again. A SQLite database must not be in use.",
  args: [],
  flags: AUDIT_ACCEPT_FLAGS,
  settings: [...DATABASE, "auditKey", "auditAnchor"],
  examples: [
    "assay audit accept --audit-key audit.pem --data .assay",
    'assay audit accept --audit-key audit.pem --data .assay --reason "restored the backup of Monday"',
  ],
  exits: { 0: "nothing is left to accept", 1: "there is something to accept, and no --reason" },
  load: async () => (await import("./audit-accept.ts")).auditAccept,
});

export const AUDIT_ROTATE_FLAGS = {
  trust: {
    type: "list",
    value: "BASE64",
    summary: "A public key that signed before, such as the one of the database; repeat it, newest first.",
  },
} as const satisfies Flags;

export const auditRotateKey = command({
  name: "audit rotate-key",
  summary: "Put a new key for audit checkpoints in place of the one in a file.",
  about:
    "The file then holds the new private key and, after it, the public keys so far, so that older checkpoints verify. A file that does not " +
    "exist is made. Hosts use the new key when they start again.",
  args: [{ name: "FILE", summary: "The file of --audit-key." }],
  flags: AUDIT_ROTATE_FLAGS,
  settings: [],
  examples: ["assay audit rotate-key audit.pem"],
  load: async () => (await import("./audit-rotate-key.ts")).auditRotateKey,
});

export const AUDIT_COMMANDS: readonly AnyCommand[] = [auditVerify, auditExport, auditAccept, auditRotateKey];
