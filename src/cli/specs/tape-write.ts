import type { AnyCommand } from "../command.ts";

export const TAPE_WRITE_COMMANDS: readonly AnyCommand[] = [];
