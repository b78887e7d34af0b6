import { expect, test } from "vitest";
import { OF_HOST } from "../units/group-commit.ts";
import { ConnectionTurns } from "./tenant-pool.ts";

/** Who has a connection, in the order in which they got it. */
function turnsAt(connections: number, waitMs = 60_000) {
  const turns = new ConnectionTurns(connections, waitMs);
  const has: string[] = [];
  const take = async (tenant: string) => {
    const release = await turns.take(tenant);
    has.push(tenant);
    return release;
  };
  return { take, has };
}

test("one tenant leaves connections to others, and all of them leave some to the host", async () => {
  const { take, has } = turnsAt(12, 20);
  const asking = ["a", "b", OF_HOST].flatMap((tenant) => Array.from({ length: 20 }, () => take(tenant)));
  await Promise.allSettled(asking);
  const count = (tenant: string) => has.filter((one) => one === tenant).length;
  expect([count("a"), count("b"), count(OF_HOST)]).toEqual([8, 2, 2]);
});

test("tenants take turns at connections that become free", async () => {
  const { take, has } = turnsAt(3);
  const release = await take("a");
  const rest = ["a", "a", "b", "c"].map((tenant) => take(tenant));
  release();
  for (const one of rest) {
    await new Promise(setImmediate);
    void one.then((done) => done());
  }
  await Promise.all(rest);
  expect(has).toEqual(["a", "a", "b", "c", "a"]);
});

test("a tenant that has no turn in time is refused, and keeps no place", async () => {
  const { take } = turnsAt(3, 20);
  const release = await take("a");
  await expect(take("a")).rejects.toMatchObject({ code: "unavailable" });
  release();
  (await take("a"))();
});
