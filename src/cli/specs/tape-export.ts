import type { AnyCommand } from "../command.ts";

export const TAPE_EXPORT_COMMANDS: readonly AnyCommand[] = [];
