import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { MANIFEST_NAME } from "../../formats/tapes/bundle.ts";
import { assayTape, bundleBench, call, filesIn, HASHES, SIDECAR } from "../../testing/bundle-bench.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { aTape, tapeText } from "../../testing/tape-files.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { gather } from "./files/bundle-gather.ts";
import { writeBundle } from "./files/bundle-pack.ts";

describe("a tape that is packed", () => {
  test("comes out as it went in, byte for byte", async () => {
    const { folder, tape, bundle } = bundleBench();
    const before = filesIn(folder);
    expect(await assayTape("bundle", tape)).toEqual({
      code: 0,
      out: expect.stringMatching(/run\.tape\.bundle\.tar: 2 records, 2 bodies, with annotations, \d+\.\d kB\n$/),
      err: "",
    });
    const to = join(tempDir(), "new", "folder");
    const { code, out, err } = await assayTape("unbundle", bundle, "--output", to);
    expect([code, out, err]).toEqual([0, `${join(to, "run.tape")}: 2 records, 2 bodies, with annotations\n`, ""]);
    expect(filesIn(to)).toEqual(before);
    expect(readdirSync(to).sort()).toEqual(["run.tape", "run.tape.annotations.jsonl", "run.tape.cas"]);
  });

  test("gives the same bytes whenever and wherever that is done", async () => {
    const [one, other] = [bundleBench(), bundleBench()];
    utimesSync(other.tape, 1, 1);
    for (const { tape } of [one, other]) await assayTape("bundle", tape);
    expect(readFileSync(one.bundle).equals(readFileSync(other.bundle))).toBe(true);
  });

  test("can be unpacked by a program that everybody has", async () => {
    const { folder, tape, bundle } = bundleBench();
    const before = filesIn(folder);
    await assayTape("bundle", tape);
    const to = tempDir();
    execFileSync("tar", ["-xf", bundle, "-C", to]);
    const { [MANIFEST_NAME]: manifest, ...files } = filesIn(to);
    expect(files).toEqual(before);
    expect(JSON.parse(manifest as string)).toMatchObject({
      format: "assay-tape-bundle",
      version: 1,
      tape: { name: "run.tape", records: 2 },
      bodies: expect.arrayContaining([{ hash: HASHES[1], size: 2 }]),
      missing: [],
    });
  });

  test("is compressed when its name says so, and unpacks all the same", async () => {
    const { folder, tape, bundle } = bundleBench();
    const zipped = join(folder, "run.tgz");
    await assayTape("bundle", tape);
    await assayTape("bundle", tape, "--output", zipped);
    expect(gunzipSync(readFileSync(zipped)).equals(readFileSync(bundle))).toBe(true);
    expect((await assayTape("unbundle", zipped, "--output", tempDir())).code).toBe(0);
  });

  test("takes the sidecar it is given, and does without one", async () => {
    const { folder, tape, bundle } = bundleBench();
    const review = join(folder, "review.jsonl");
    writeFileSync(review, `# another\n${SIDECAR}`);
    await assayTape("bundle", tape, "--annotations", review);
    const to = tempDir();
    await assayTape("unbundle", bundle, "--output", to);
    expect(filesIn(to)["run.tape.annotations.jsonl"]).toBe(`# another\n${SIDECAR}`);
    const bare = join(tempDir(), "bare.tape");
    writeFileSync(bare, tapeText(aTape()));
    const { out } = await assayTape("bundle", bare, "--json");
    expect(JSON.parse(out)).toMatchObject({ records: 0, annotations: false, bodies: 0, missing: [], leftOut: [] });
  });

  test("leaves out bodies that no record refers to, and says so", async () => {
    const { tape, bundle } = bundleBench();
    writeFileSync(join(`${tape}.cas`, "stray"), "x");
    const { code, err } = await assayTape("bundle", tape);
    expect([code, err]).toEqual([0, `1 file in ${tape}.cas left out: no record refers to them`]);
    expect(readFileSync(bundle, "latin1")).not.toContain("stray");
  });

  test("names the bodies that are missing, and is refused for them only on request", async () => {
    const absent = "0".repeat(64);
    const { folder, tape, bundle } = bundleBench([absent, "../outside"]);
    writeFileSync(join(folder, "outside"), "not for you");
    const strict = await assayTape("bundle", tape, "--require-bodies");
    expect(strict).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("error: 2 bodies that the tape refers to"),
    });
    expect(existsSync(bundle)).toBe(false);
    const { code, err } = await assayTape("bundle", tape);
    expect([code, err]).toEqual([
      0,
      `warning: 2 bodies that the tape refers to are missing:\n  ../outside\n  ${absent}`,
    ]);
    expect(readFileSync(bundle, "latin1")).not.toContain("not for you");
    const to = tempDir();
    expect(await assayTape("unbundle", bundle, "--output", to, "--require-bodies")).toMatchObject({ code: 2 });
    expect(filesIn(to)).toEqual({});
    expect(await assayTape("unbundle", bundle, "--output", to)).toMatchObject({ code: 0, err });
  });
});

describe("nothing is packed", () => {
  test.each([
    ["a tape that does not load", (tape: string) => writeFileSync(tape, "{}\n"), "error: load tape"],
    [
      "a sidecar that does not load",
      (tape: string) => writeFileSync(`${tape}.annotations.jsonl`, ""),
      "error: load annot",
    ],
    [
      "a body that is not what its name says",
      (tape: string) => writeFileSync(join(`${tape}.cas`, HASHES[0] as string), "other"),
      "is not the body that its name says",
    ],
  ])("of %s", async (_, spoil, problem) => {
    const { tape, folder } = bundleBench();
    spoil(tape);
    expect(await assayTape("bundle", tape)).toEqual({ code: 1, out: "", err: expect.stringContaining(problem) });
    expect(readdirSync(folder).filter((name) => name.includes("bundle"))).toEqual([]);
  });

  test("over a file that exists, unless it may be replaced", async () => {
    const { tape, bundle } = bundleBench();
    writeFileSync(bundle, "mine");
    expect(await assayTape("bundle", tape)).toMatchObject({ code: 2, err: expect.stringContaining("use --force") });
    expect(readFileSync(bundle, "utf8")).toBe("mine");
    expect((await assayTape("bundle", tape, "--force")).code).toBe(0);
    expect((await assayTape("unbundle", bundle, "--output", tempDir())).code).toBe(0);
  });

  test.each(["bundle.json", "x".repeat(81), "back\\slash"])(
    "under the name %s, which a bundle cannot hold",
    async (name) => {
      const tape = join(tempDir(), name);
      writeFileSync(tape, tapeText(aTape()));
      expect(await assayTape("bundle", tape)).toMatchObject({ code: 2, err: expect.stringContaining("its name") });
    },
  );

  test("when a file changes meanwhile", async () => {
    const { tape, bundle, folder } = bundleBench();
    const gathered = await gather(tape, undefined, recordedIo());
    writeFileSync(tape, tapeText(aTape(call(HASHES[1] as string), call(HASHES[0] as string))));
    await expect(writeBundle(bundle, gathered)).rejects.toMatchObject({ code: "file_changed", path: tape });
    expect(readdirSync(folder).filter((name) => name.includes("bundle"))).toEqual([]);
  });

  test("where it cannot be written", async () => {
    const { tape, folder } = bundleBench();
    writeFileSync(join(folder, "file"), "");
    const output = join(folder, "file", "x.tar");
    expect(await assayTape("bundle", tape, "--output", output)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: write /),
    });
  });
});
