import type { AnyCommand } from "../command.ts";

export const TAPE_COMPARE_COMMANDS: readonly AnyCommand[] = [];
