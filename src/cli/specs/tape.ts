import type { AnyCommand } from "../command.ts";
import { TAPE_CHECK_COMMANDS } from "./tape-check.ts";
import { TAPE_COMPARE_COMMANDS } from "./tape-compare.ts";
import { TAPE_EXPORT_COMMANDS } from "./tape-export.ts";
import { TAPE_PATTERN_COMMANDS } from "./tape-patterns.ts";
import { TAPE_SERVER_COMMANDS } from "./tape-server.ts";
import { TAPE_SYNC_COMMANDS } from "./tape-sync.ts";
import { TAPE_WRITE_COMMANDS } from "./tape-write.ts";

/** Tapes and sidecars: offline, but for those that speak of a server. */
export const TAPE_COMMANDS: readonly AnyCommand[] = [
  ...TAPE_CHECK_COMMANDS,
  ...TAPE_EXPORT_COMMANDS,
  ...TAPE_WRITE_COMMANDS,
  ...TAPE_PATTERN_COMMANDS,
  ...TAPE_COMPARE_COMMANDS,
  ...TAPE_SERVER_COMMANDS,
  ...TAPE_SYNC_COMMANDS,
];
