import { createDatabase } from "../../src/testing/postgres.ts";
import { isForEachDatabase, tryAttacks } from "./try-attacks.ts";

tryAttacks("PostgreSQL", async () => ["--database-url", (await createDatabase()).url], isForEachDatabase);
