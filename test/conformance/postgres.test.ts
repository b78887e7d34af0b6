import { createDatabase } from "../../src/testing/postgres.ts";
import { conformance } from "./scenarios.ts";

conformance("PostgreSQL", async () => ["--database-url", (await createDatabase()).url]);
