import type { AnyCommand } from "../../program/command.ts";
import { TAPE_CHECK_COMMANDS } from "./check.ts";
import { TAPE_COMPARE_COMMANDS } from "./compare.ts";
import { TAPE_EXPORT_COMMANDS } from "./export.ts";
import { TAPE_PATTERN_COMMANDS } from "./patterns.ts";
import { TAPE_SERVER_COMMANDS } from "./server.ts";
import { TAPE_SYNC_COMMANDS } from "./sync.ts";
import { TAPE_WRITE_COMMANDS } from "./write.ts";

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
