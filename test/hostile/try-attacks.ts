import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Attack } from "./attack.ts";
import { Target } from "./target.ts";

const folder = new URL("./attacks/", import.meta.url);
const files = await Promise.all(readdirSync(folder).sort().map(attacksOf));
const rounds = Number(process.env["HOSTILE_ROUNDS"] ?? "1");
// Long forms try more inputs against the same host; a hang is still found.
const timeout = 60_000 * rounds;

/** Every attack of the folder `attacks` against real hosts on one database. */
export function tryAttacks(name: string, database: () => Promise<readonly string[]>): void {
  describe(`hostile requests on ${name}`, () => {
    let shared: Target;
    beforeAll(async () => {
      shared = await Target.start(await database());
    });
    afterAll(() => shared.stop());

    for (const { name, attacks } of files) {
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
