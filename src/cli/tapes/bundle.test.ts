import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { paddingOf, tarEnd, tarHeader } from "../../formats/archives/tar.ts";
import { MANIFEST_NAME } from "../../formats/tapes/bundle.ts";
import { assayTape, bundleBench, call, filesIn, HASHES, SIDECAR } from "../../testing/bundle-bench.ts";
import { mutated } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { aTape, tapeText } from "../../testing/tape-files.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { gather, writeBundle } from "./files/pack-bundle.ts";

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
      "does not have the hash in its name",
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

describe("unpacking", () => {
  async function packed() {
    const { tape, bundle } = bundleBench();
    await assayTape("bundle", tape);
    return bundle;
  }

  test("refuses to replace anything unless it may, and then replaces what the bundle holds", async () => {
    const bundle = await packed();
    const to = tempDir();
    writeFileSync(join(to, "run.tape"), "mine");
    writeFileSync(join(to, "other"), "stays");
    expect(await assayTape("unbundle", bundle, "--output", to)).toMatchObject({ code: 2, out: "" });
    expect(filesIn(to)).toEqual({ "run.tape": "mine", other: "stays" });
    mkdirSync(join(to, "run.tape.cas"));
    writeFileSync(join(to, "run.tape.cas", "old"), "of another tape");
    expect((await assayTape("unbundle", bundle, "--output", to, "--force")).code).toBe(0);
    expect(Object.keys(filesIn(to)).sort()).toEqual(
      ["other", "run.tape", "run.tape.annotations.jsonl", ...HASHES.map((hash) => `run.tape.cas/${hash}`)].sort(),
    );
  });

  test("does not follow a link that stands in the place of a file", async () => {
    const bundle = await packed();
    const [to, elsewhere] = [tempDir(), tempDir()];
    writeFileSync(join(elsewhere, "precious"), "untouched");
    symlinkSync(join(elsewhere, "precious"), join(to, "run.tape"));
    expect((await assayTape("unbundle", bundle, "--output", to, "--force")).code).toBe(0);
    expect(filesIn(elsewhere)).toEqual({ precious: "untouched" });
  });

  test("is bounded in what it writes", async () => {
    const to = join(tempDir(), "to");
    const { code, err } = await assayTape("unbundle", await packed(), "--output", to, "--max-bytes", "100");
    expect([code, err]).toEqual([1, expect.stringMatching(/its content has \d+ bytes and --max-bytes allows 100$/)]);
    expect(existsSync(to)).toBe(false);
  });

  test("of a file that is none, or that is not there, says so", async () => {
    const { tape, folder } = bundleBench();
    expect(await assayTape("unbundle", tape)).toMatchObject({
      code: 1,
      err: `error: load bundle ${tape}: it is no tar archive, or damaged`,
    });
    const none = join(folder, "none");
    const { code, err } = await assayTape("unbundle", none, "--json");
    expect([code, JSON.parse(err)]).toMatchObject([1, { error: "bundle_read_failed", details: { path: none } }]);
    expect(err).toContain("no such file");
  });
});

describe("a bundle that somebody has tampered with", () => {
  let good: Buffer;
  beforeAll(async () => {
    const { tape, bundle } = bundleBench();
    await assayTape("bundle", tape);
    good = readFileSync(bundle);
  });

  type Files = [name: string, content: Uint8Array | string][];

  /** The files of a good bundle, changed, and packed again with headers that are right. */
  async function tampered(change: (files: Files) => Files) {
    const bundle = join(tempDir(), "run.tape.bundle.tar");
    const files = change(entriesOf(good));
    writeFileSync(bundle, Buffer.concat([...files.flatMap(([name, content]) => entry(name, content)), tarEnd()]));
    return unpacked(bundle);
  }

  async function unpacked(bundle: string) {
    const parent = tempDir();
    const { code, err } = await assayTape("unbundle", bundle, "--output", join(parent, "to"));
    return { code, err: err.slice(err.indexOf(".tar: ") + 6), left: readdirSync(parent) };
  }

  const refused = (problem: string) => ({ code: 1, err: expect.stringContaining(problem), left: [] });
  const manifest =
    (change: (text: string) => string) =>
    (files: Files): Files =>
      files.map(([name, content]) => [name, name === MANIFEST_NAME ? change(content.toString()) : content]);

  test("is still one when nothing was changed", async () => {
    expect(await tampered((files) => files)).toEqual({ code: 0, err: expect.anything(), left: ["to"] });
  });

  test.each(["/etc/passwd", "../run.tape", "run.tape/../../x", "other", "run.tape\\x"])(
    "cannot write to %s",
    async (name) => {
      const swapped = await tampered((files) =>
        files.map(([old, content]) => [old === "run.tape" ? name : old, content]),
      );
      expect(swapped).toEqual(refused('is found where "run.tape" of'));
      const appended = await tampered((files) => [...files, [name, "x"]]);
      expect(appended).toEqual(refused(`is not in ${MANIFEST_NAME}`));
      const claimed = await tampered(
        manifest((text) => text.replace('"name": "run.tape"', `"name": ${JSON.stringify(name)}`)),
      );
      expect(claimed).toEqual(refused(""));
    },
  );

  test("cannot hold a file twice, nor in another order, nor less than it says", async () => {
    expect(await tampered((files) => [...files, ...files.slice(-1)])).toEqual(refused("is not in bundle.json"));
    expect(await tampered((files) => [files[0], files[2], files[1], ...files.slice(3)] as Files)).toEqual(
      refused("is found where"),
    );
    expect(await tampered((files) => files.slice(0, -1))).toEqual(refused("its end is found where"));
    expect(await tampered((files) => files.slice(1))).toEqual(refused("it does not begin with bundle.json"));
  });

  test("cannot hold more of a file than it says", async () => {
    const longer = await tampered((files) =>
      files.map(([name, content]) => [
        name,
        name === "run.tape" ? Buffer.concat([Buffer.from(content), good]) : content,
      ]),
    );
    expect(longer).toEqual(refused('is found where "run.tape" of'));
  });

  test("cannot pass other content for what was packed", async () => {
    for (const name of ["run.tape", "run.tape.annotations.jsonl", `run.tape.cas/${HASHES[0]}`]) {
      const other = await tampered((files) =>
        files.map(([one, content]) => [one, one === name ? Buffer.from(content).fill(0x7e, 1, 2) : content]),
      );
      expect(other).toEqual(refused("does not have the hash in"));
    }
  });

  test.each<[string, (text: string) => string, string]>([
    ["another digest", (text) => text.replace(/"digest": "[0-9a-f]/, '"digest": "x'), "digest"],
    ["another number of records", (text) => text.replace('"records": 2', '"records": 3'), "digest"],
    ["a missing body that no record refers to", (text) => text.replace('"missing": []', '"missing": ["x"]'), "bodies"],
    ["another format", (text) => text.replace("assay-tape-bundle", "other"), "its format is not assay-tape-bundle"],
    [
      "a size beyond all bounds",
      (text) => text.replace('"size": 2\n', '"size": 18446744073709551615\n'),
      "--max-bytes",
    ],
    ["no JSON", (text) => text.slice(1), "bundle.json: "],
    ["a member twice", (text) => text.replace("{", '{"version": 1,'), "`version` is there twice"],
    ["a body that is no hash", (text) => text.replace(HASHES[0] as string, "../../evil"), "`bodies`: a hash is not"],
    ["missing bodies in any order", (text) => text.replace('"missing": []', '"missing": ["b", "a"]'), "`missing`: not"],
    ["a name of more than a folder", (text) => text.replace('"run.tape"', '"a/run.tape"'), "has a slash"],
  ])("cannot say %s", async (_, change, problem) => {
    expect(await tampered(manifest(change))).toEqual(refused(problem));
  });

  test("cannot hold bodies in another order, even when it says so itself", async () => {
    const reverse = (text: string) => {
      const about = JSON.parse(text);
      return JSON.stringify({ ...about, bodies: about.bodies.reverse() });
    };
    const swapped = await tampered((files) => [...manifest(reverse)(files.slice(0, 3)), ...files.slice(3).reverse()]);
    expect(swapped).toEqual(refused("`bodies`: not sorted"));
  });

  test("cannot be of a newer version", async () => {
    const newer = await tampered(manifest((text) => text.replace('"version": 1', '"version": 2, "later": true')));
    expect(newer).toEqual(refused("it declares version 2 but this program supports up to 1"));
  });

  test("is refused or unpacked, and never leaves anything behind, whatever bytes were changed", async () => {
    const random = randomFrom(5);
    const file = join(tempDir(), "mutated.tar");
    for (let round = 0; round < 40; round++) {
      writeFileSync(file, mutated(good, random));
      const { code, err, left } = await unpacked(file);
      expect([0, 1], err).toContain(code);
      expect(left).toEqual(code === 0 ? ["to"] : []);
    }
  });
});

function entry(name: string, content: Uint8Array | string): Uint8Array[] {
  const bytes = Buffer.from(content);
  const header = tarHeader({ name, size: bytes.length });
  if (header === undefined) throw new Error(`no header for ${name}`);
  return [header, bytes, new Uint8Array(paddingOf(bytes.length))];
}

function entriesOf(archive: Buffer): [string, Uint8Array][] {
  const files: [string, Uint8Array][] = [];
  for (let at = 0; archive[at] !== 0; ) {
    const field = (start: number, length: number) =>
      archive.toString("utf8", at + start, at + start + length).split("\0")[0] ?? "";
    const [prefix, size] = [field(345, 155), Number.parseInt(field(124, 12), 8)];
    files.push([
      prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`,
      archive.subarray(at + 512, at + 512 + size),
    ]);
    at += 512 + size + paddingOf(size);
  }
  return files;
}
