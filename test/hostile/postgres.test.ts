import { createDatabase } from "../../src/testing/postgres.ts";
import { tryAttacks } from "./try-attacks.ts";

tryAttacks("PostgreSQL", async () => ["--database-url", (await createDatabase()).url]);
