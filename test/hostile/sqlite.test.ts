import { tryAttacks } from "./try-attacks.ts";

tryAttacks("SQLite", async () => []);
