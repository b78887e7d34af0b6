import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { printExportedRow } from "../../src/formats/tapes/sidecar/sidecar.ts";
import { folderWith } from "../../src/testing/tape-command.ts";
import { aRow, aSidecarHeader, sidecarText } from "../../src/testing/tape-files.ts";
import { assay, start } from "../cli/assay.ts";

// More than any pipe holds, so that the program has to wait for its reader many times.
const rows = Array.from({ length: 10_000 }, (_, i) => aRow({ id: `r${i}`, evidence: "x".repeat(200) }));
const sidecar = join(folderWith({ s: sidecarText({ header: aSidecarHeader(), rows }) }), "s");

describe("a long result in a pipe", () => {
  test("arrives whole, and nothing is said about it", async () => {
    const { code, stdout, stderr } = await assay(["tape", "export", sidecar]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout === rows.map((row) => `${printExportedRow(row)}\n`).join("")).toBe(true);
  });

  test("ends quietly when its reader goes away", async () => {
    const running = start(["tape", "export", sidecar]);
    await once(running.child.stdout as NodeJS.ReadableStream, "data");
    running.child.stdout?.destroy();
    expect(await running.ended).toBe(0);
    expect(running.stderr()).toBe("");
  });
});
