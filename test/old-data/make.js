// @ts-check
// Makes the fixture of a version: `node test/old-data/make.js 0.1.0` in a checkout of that version, once. It fills an
// embedded database and a PostgreSQL in the same way and keeps, for each, the database and what the server answered.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { startAssay } from "../assay-process.js";
import { startPostgres } from "../start-postgres.js";
import { answers } from "./answers.js";
import { dump } from "./dump.js";
import { fill, KEYS, SERVE } from "./fill.js";

const version = process.argv[2] ?? "";
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error("Which version? node test/old-data/make.js 0.1.0");
const here = fileURLToPath(new URL(".", import.meta.url));
/** @param {string} name @param {Buffer | string} content */
const keep = (name, content) => writeFileSync(join(here, "fixtures", `${version}.${name}`), content);

const folder = mkdtempSync(join(tmpdir(), "assay-old-data-"));
const postgres = await startPostgres();
try {
  writeFileSync(join(folder, "keys.json"), JSON.stringify(KEYS));
  const data = join(folder, "data");
  keep("sqlite.json", JSON.stringify(await filled(["--data", data])));
  keep("sqlite.gz", gzipSync(readFileSync(join(data, "assay.db")), { level: 9 }));
  keep("postgres.json", JSON.stringify(await filled(["--database-url", postgres.url])));
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const sql = await dump(client).finally(() => client.end());
  keep("postgres.sql.gz", gzipSync(sql, { level: 9 }));
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string[]} database */
async function filled(database) {
  const args = [...SERVE, "--keys", join(folder, "keys.json"), ...database];
  const server = await startAssay({ args, logFile: join(folder, "server.log") });
  const ids = await fill(server.url, mkdtempSync(join(folder, "files-")));
  const answered = await answers(server.url, ids);
  await server.stop();
  return { ids, answers: answered };
}
