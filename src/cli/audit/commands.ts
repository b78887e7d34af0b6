import { type AnyCommand, command, DATABASE, list, text, toggle } from "../program/command.ts";

export const AUDIT_VERIFY_FLAGS = {
  file: text("FILE", "An export made by `audit export`, checked on this machine."),
  against: text("FILE", "An export made earlier: the server's log must contain all of it."),
  publicKey: text(
    "BASE64",
    "With --file or --against: the trusted checkpoint key, in place of the one in the export. Earlier keys follow after commas, " +
      "newest first.",
  ),
};

export const AUDIT_EXPORT_FLAGS = {
  force: toggle("Replace the file when it exists."),
};

export const AUDIT_ACCEPT_FLAGS = {
  tenant: text("ID", "Only the log of this tenant; of every tenant with an anchor unless given."),
  reason: text("TEXT", "Why; it is recorded in the audit log. Without it nothing is changed."),
};

export const AUDIT_ROTATE_FLAGS = {
  trust: list("BASE64", "A public key that signed before, such as the one of the database; repeat it, newest first."),
};

export const AUDIT_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "audit verify",
    summary: "Check the audit chain and its signed checkpoints.",
    about:
      "The server checks the whole chain of your tenant; with --file, an export is checked without a server. With --against, an " +
      "export is compared with the server's log: a log that was truncated, rolled back or rewritten lacks a part of it.",
    flags: AUDIT_VERIFY_FLAGS,
    examples: [
      "assay audit verify",
      "assay audit verify --against audit.jsonl",
      "assay audit verify --file audit.jsonl",
    ],
    exits: {
      0: "the chain and every checkpoint are valid, and all of the export is in it",
      1: "the chain or a checkpoint is not valid, or a part of the export is missing",
      5: "the host does not serve its audit chain",
    },
    load: async () => (await import("./verify.ts")).auditVerify,
  }),
  command({
    name: "audit export",
    summary: "Write the audit chain of your tenant to a file, as JSON lines.",
    args: [{ name: "FILE", summary: "The file to write; compressed when its name ends in .gz." }],
    flags: AUDIT_EXPORT_FLAGS,
    examples: ["assay audit export audit.jsonl", "assay audit export audit.jsonl.gz --force"],
    load: async () => (await import("./export.ts")).auditExport,
  }),
  command({
    name: "audit accept",
    summary: "Accept an audit log that lacks what was signed, after a backup was restored.",
    about:
      "Opens the database and the anchors of the signing key, and shows which logs do not continue the signed checkpoints. With --reason, " +
      "records in each log and its anchor that the log is accepted as it is now; the anchor keeps the checkpoint that was given up. Then " +
      "checkpoints are signed again. A SQLite database must not be in use.",
    flags: AUDIT_ACCEPT_FLAGS,
    settings: [...DATABASE, "auditKey", "auditAnchor"],
    examples: [
      "assay audit accept --audit-key audit.pem --data .assay",
      'assay audit accept --audit-key audit.pem --data .assay --reason "restored the backup of Monday"',
    ],
    exits: { 0: "nothing is left to accept", 1: "there is something to accept, and no --reason" },
    load: async () => (await import("./signing-key.ts")).auditAccept,
  }),
  command({
    name: "audit rotate-key",
    summary: "Replace the key for audit checkpoints in a file by a new one.",
    about:
      "The file then holds the new private key, followed by the earlier public keys, so that older checkpoints verify. A file that does not " +
      "exist is created. Hosts use the new key after a restart.",
    args: [{ name: "FILE", summary: "The file of --audit-key." }],
    flags: AUDIT_ROTATE_FLAGS,
    settings: [],
    examples: ["assay audit rotate-key audit.pem"],
    load: async () => (await import("./signing-key.ts")).auditRotateKey,
  }),
];
