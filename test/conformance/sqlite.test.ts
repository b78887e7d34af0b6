import { conformance } from "./scenarios.ts";

conformance("SQLite", async () => []);
