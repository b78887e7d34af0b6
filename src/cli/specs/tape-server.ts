import type { AnyCommand } from "../command.ts";

export const TAPE_SERVER_COMMANDS: readonly AnyCommand[] = [];
