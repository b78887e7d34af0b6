import { type AnyCommand, command, type Flags } from "../command.ts";
import { CLIENT } from "./shared.ts";

export const AUDIT_VERIFY_FLAGS = {
  file: { type: "text", value: "FILE", summary: "An export made by `audit export`, checked on this machine." },
  publicKey: {
    type: "text",
    value: "BASE64",
    summary: "With --file: the checkpoint key you trust, in place of the one the export names.",
  },
} as const satisfies Flags;

export const auditVerify = command({
  name: "audit verify",
  summary: "Check the audit chain and its signed checkpoints.",
  about: "Asks the server to walk the whole chain of your tenant or, with --file, checks an export without any server.",
  args: [],
  flags: AUDIT_VERIFY_FLAGS,
  settings: CLIENT,
  examples: ["assay audit verify", "assay audit verify --file audit.jsonl"],
  exits: {
    0: "the chain and every checkpoint are valid",
    1: "they are not",
    5: "the host does not serve its audit chain",
  },
  load: async () => (await import("../commands/audit-verify.ts")).auditVerify,
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
  load: async () => (await import("../commands/audit-export.ts")).auditExport,
});

export const AUDIT_COMMANDS: readonly AnyCommand[] = [auditVerify, auditExport];
