import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, startChild } from "../../testing/child-process.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { directoryBackend } from "./directory-backend.ts";
import type { ReviewSession } from "./session.ts";

const UNKNOWN = "ses_0123456789abABCDEFGHIJKLMN";

async function sessionIn(root: string): Promise<string> {
  return directoryBackend(root).withNewSession(async (session) => ({ session, result: session.sessionID }));
}

const answeredTurn = (iteration: number) => ({
  iteration,
  fingerprint: `f${iteration}`,
  response: `{"n":${iteration}}`,
});

function withAnswer(session: ReviewSession, iteration: number): ReviewSession {
  return { ...session, last: iteration, answered: answeredTurn(iteration) };
}

describe("a session in a directory", () => {
  test("is what was kept of it last, and can be read without us", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    const backend = directoryBackend(root);
    for (const n of [1, 2])
      await backend.withSession(id, async (session) => ({ session: withAnswer(session, n), result: 0 }));
    expect(await backend.read(id)).toMatchObject({ sessionID: id, last: 2, answered: answeredTurn(2) });
    const file = JSON.parse(readFileSync(join(root, id, "session.json"), "utf8"));
    expect(file.turns).toEqual([answeredTurn(1), answeredTurn(2)]);
    expect(readdirSync(join(root, id))).toEqual(["session.json"]);
  });

  test("forgets the turns of an earlier conversation when a new one begins", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    const backend = directoryBackend(root);
    for (const n of [1, 2, 1])
      await backend.withSession(id, async (session) => ({ session: withAnswer(session, n), result: 0 }));
    expect(JSON.parse(readFileSync(join(root, id, "session.json"), "utf8")).turns).toEqual([answeredTurn(1)]);
  });

  test("leaves nothing behind when its first turn comes to nothing", async () => {
    const root = tempDir();
    const failing = directoryBackend(root).withNewSession(async () => Promise.reject(new Error("no room")));
    await expect(failing).rejects.toThrow("no room");
    expect(readdirSync(root)).toEqual([]);
  });

  test("is there although nothing was kept of its first turn", async () => {
    const root = tempDir();
    const id = await directoryBackend(root).withNewSession(async ({ sessionID }) => ({ result: sessionID }));
    expect(await directoryBackend(root).read(id)).toEqual({ sessionID: id, last: 0, issued: [], decisions: [] });
  });

  test.each([[UNKNOWN], [""], ["../x"], ["ses_"]])("%j is unknown", async (id) => {
    const backend = directoryBackend(tempDir());
    expect(await backend.withSession(id, async () => ({ result: 0 }))).toEqual({ ok: false, why: "unknown" });
    expect(await backend.fork(id)).toBeUndefined();
    expect(await backend.read(id)).toBeUndefined();
  });

  test("is unknown when only its directory was made before its process was killed", async () => {
    const root = tempDir();
    mkdirSync(join(root, UNKNOWN));
    expect(await directoryBackend(root).read(UNKNOWN)).toBeUndefined();
    expect(await directoryBackend(root).latest()).toBeUndefined();
  });

  test("whose file is damaged is refused, not begun anew", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    const path = join(root, id, "session.json");
    const whole = readFileSync(path, "utf8");
    for (const text of ["", "{}", whole.slice(0, -10), whole.replace(id, UNKNOWN)]) {
      writeFileSync(path, text);
      const held = directoryBackend(root).withSession(id, async () => ({ result: 0 }));
      await expect(held).rejects.toMatchObject({ code: "unusable_input", message: expect.stringContaining("damaged") });
    }
  });

  test.each([
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["a device", (path: string) => symlinkSync("/dev/zero", path)],
    ["a directory", (path: string) => mkdirSync(path)],
  ])("whose file is %s is refused, not waited for", async (_, make) => {
    const root = tempDir();
    const id = await sessionIn(root);
    const path = join(root, id, "session.json");
    rmSync(path);
    make(path);
    const backend = directoryBackend(root);
    const refused = { code: "unusable_input", message: expect.stringContaining("is not a regular file") };
    await expect(backend.withSession(id, async () => ({ result: 0 }))).rejects.toMatchObject(refused);
    await expect(backend.fork(id)).rejects.toMatchObject(refused);
  });

  test("is readable by its owner alone", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    expect(statSync(join(root, id)).mode & 0o077).toBe(0);
    expect(statSync(join(root, id, "session.json")).mode & 0o077).toBe(0);
  });
});

describe("the session that was used last", () => {
  test("is the one whose turn came last, also when that changed nothing", async () => {
    const root = tempDir();
    const backend = directoryBackend(root);
    expect(await directoryBackend(join(root, "missing")).latest()).toBeUndefined();
    const [first, second] = [await sessionIn(root), await sessionIn(root)];
    for (const id of [first, second]) utimesSync(join(root, id, "session.json"), 1000, 1000);
    await backend.withSession(first, async () => ({ result: 0 }));
    expect(await backend.latest()).toBe(first);
    await backend.withSession(second, async () => ({ result: 0 }));
    utimesSync(join(root, first, "session.json"), 1000, 1000);
    expect(await backend.latest()).toBe(second);
  });
});

describe("a directory that cannot be used", () => {
  test("is named, with the reason", async () => {
    const file = join(tempDir(), "file");
    writeFileSync(file, "");
    await expect(sessionIn(file)).rejects.toMatchObject({
      code: "unusable_input",
      message: expect.stringContaining(`${file} cannot hold review sessions`),
    });
  });

  test.skipIf(!existsSync("/proc/self"))(
    "because nothing can be made in it is one, and is not tried for ever",
    async () => {
      await expect(sessionIn("/proc/no/such/place")).rejects.toMatchObject({ code: "unusable_input" });
    },
  );

  test("is not one that is merely missing: it is made, with those above it", async () => {
    const root = join(tempDir(), "a", "b", "c");
    expect(await directoryBackend(root).read(await sessionIn(root))).toMatchObject({ last: 0 });
  });

  test.skipIf(process.getuid?.() === 0)(
    "because nobody may write there is one, and nothing is left in it",
    async () => {
      const root = tempDir();
      const id = await sessionIn(root);
      chmodSync(join(root, id), 0o500);
      const held = directoryBackend(root).withSession(id, async (session) => ({ session, result: 0 }));
      await expect(held).rejects.toMatchObject({ code: "unusable_input" });
      chmodSync(join(root, id), 0o700);
      expect(readdirSync(join(root, id))).toEqual(["session.json"]);
    },
  );
});

describe("two at once", () => {
  test("take turns, and none of their changes is lost", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    const raise = () =>
      directoryBackend(root).withSession(id, async (session) => {
        await new Promise((resolve) => setImmediate(resolve));
        return { session: { ...session, last: session.last + 1 }, result: 0 };
      });
    await Promise.all(Array.from({ length: 10 }, raise));
    expect((await directoryBackend(root).read(id))?.last).toBe(10);
  });

  test("wait only as long as they are told to", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    let release = () => {};
    let isHeld = () => {};
    const held = new Promise<void>((resolve) => {
      isHeld = resolve;
    });
    const first = directoryBackend(root).withSession(id, async () => {
      isHeld();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { result: 0 };
    });
    await held;
    const second = directoryBackend(root, { busyMs: 60 }).withSession(id, async () => ({ result: 0 }));
    expect(await second).toEqual({ ok: false, why: "busy" });
    release();
    expect(await first).toEqual({ ok: true, result: 0 });
  });
});

/** Counts up in a session, one turn after the other, and says so after each. */
const counter = (root: string, id: string) => `
  import { directoryBackend } from ${built("reviews/provider/directory-backend.js")};
  const backend = directoryBackend(${JSON.stringify(root)});
  for (;;) {
    const held = await backend.withSession(${JSON.stringify(id)}, async (session) => ({
      session: { ...session, last: session.last + 1, artifact: { media_type: "text/plain", content: "x".repeat(200000) } },
      result: session.last + 1,
    }));
    console.log(held.ok ? held.result : held.why);
  }`;

describe("a process that is killed", () => {
  test("while it holds a session does not keep others from it", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    const child = startChild(`
      import { directoryBackend } from ${built("reviews/provider/directory-backend.js")};
      await directoryBackend(${JSON.stringify(root)}).withSession(${JSON.stringify(id)}, () => {
        console.log("held");
        return new Promise(() => setInterval(() => {}, 1000));
      });`);
    expect(await child.line()).toBe("held");
    const busy = directoryBackend(root, { busyMs: 50 }).withSession(id, async () => ({ result: 0 }));
    expect(await busy).toEqual({ ok: false, why: "busy" });
    await child.kill();
    const takers = Array.from({ length: 5 }, () =>
      directoryBackend(root).withSession(id, async (session) => ({
        session: { ...session, last: session.last + 1 },
        result: 0,
      })),
    );
    expect((await Promise.all(takers)).every(({ ok }) => ok)).toBe(true);
    expect((await directoryBackend(root).read(id))?.last).toBe(5);
  });

  test("at any moment loses no turn that it reported, and leaves nothing behind", async () => {
    const root = tempDir();
    const id = await sessionIn(root);
    let reported = 0;
    for (let round = 0; round < 4; round++) {
      const children = [startChild(counter(root, id)), startChild(counter(root, id))];
      const hear = (line: string | undefined) => {
        reported = Math.max(reported, Number(line ?? 0));
      };
      for (const child of children) hear(await child.line());
      const heard = children.map(async (child) => {
        for (let line = await child.line(); line !== undefined; line = await child.line()) hear(line);
      });
      await new Promise((resolve) => setTimeout(resolve, 5 + round * 7));
      await Promise.all(children.map((child) => child.kill()));
      await Promise.all(heard);
      const now = await directoryBackend(root).read(id);
      expect(now?.last).toBeGreaterThanOrEqual(reported);
      // Each of the two may have kept one more before it could say so.
      expect(now?.last).toBeLessThanOrEqual(reported + 2);
    }
    await directoryBackend(root).withSession(id, async () => ({ result: 0 }));
    expect(readdirSync(join(root, id)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
