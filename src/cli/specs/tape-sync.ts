import type { AnyCommand } from "../command.ts";

export const TAPE_SYNC_COMMANDS: readonly AnyCommand[] = [];
