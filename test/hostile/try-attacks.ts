import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IS_LONG_FORM } from "../../src/testing/long-form.ts";
import type { Attack } from "./attack.ts";
import { Target } from "./target.ts";

const folder = new URL("./attacks/", import.meta.url);
const files = await Promise.all(readdirSync(folder).sort().map(attacksOf));
const rounds = Number(process.env["HOSTILE_ROUNDS"] ?? "1");
// Long forms try more inputs against the same host; a hang is still found.
const timeout = 60_000 * rounds;

/** Files of attacks in which the database has no part: they meet threads, memory, programs and the reading of requests. */
const APART_FROM_DATABASES = new Set([
  "costly-branches",
  "expressions",
  "memory",
  "operators-program",
  "schemas",
  "shadowed-agents",
  "strict-requests",
  "unfinished-requests",
]);

/** Attacks for a second database. `npm test` leaves out those that would meet the same code; the long forms try all on both. */
export function isForEachDatabase(file: string): boolean {
  return IS_LONG_FORM || process.env["HOSTILE_ROUNDS"] !== undefined || !APART_FROM_DATABASES.has(file);
}

/** The attacks of the folder `attacks` against real hosts on one database. */
export function tryAttacks(
  name: string,
  database: () => Promise<readonly string[]>,
  isTried: (file: string) => boolean = () => true,
): void {
  describe(`hostile requests on ${name}`, () => {
    let shared: Target;
    beforeAll(async () => {
      shared = await Target.start(await database());
    });
    afterAll(() => shared.stop());

    for (const { name, attacks } of files.filter(({ name }) => isTried(name))) {
      describe(name, () => {
        test.each(attacks.map((attack) => [attack.title, attack] as const))(
          "%s",
          async (_, attack) => {
            const own = attack.flags === undefined ? undefined : await Target.start(await database(), attack.flags);
            const target = own ?? shared;
            try {
              await attack.attempt(target, rounds);
              expect(target.isAlive(), "the host is alive after the attack").toBe(true);
            } finally {
              await own?.stop();
            }
          },
          timeout,
        );
      });
    }
  });
}

async function attacksOf(file: string): Promise<{ name: string; attacks: readonly Attack[] }> {
  const { attacks } = (await import(new URL(file, folder).href)) as { readonly attacks: readonly Attack[] };
  return { name: file.replace(/\.ts$/, ""), attacks };
}
