import type { AnyCommand } from "../command.ts";

export const TAPE_CHECK_COMMANDS: readonly AnyCommand[] = [];
