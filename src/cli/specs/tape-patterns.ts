import type { AnyCommand } from "../command.ts";

export const TAPE_PATTERN_COMMANDS: readonly AnyCommand[] = [];
