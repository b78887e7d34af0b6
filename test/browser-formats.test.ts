import { fileURLToPath } from "node:url";
import { type RolldownLog, rolldown } from "rolldown";
import { describe, expect, test } from "vitest";
import { randomSidecar, randomTape } from "../src/testing/random-tapes.ts";
import { randomFrom } from "../src/testing/random-workflow.ts";
import { aSidecarHeader, sidecarText, tapeText } from "../src/testing/tape-files.ts";
import { journey } from "./browser-formats-journey.ts";
import { browserPath, launchBrowser, withoutBrowser } from "./find-browser.ts";

describe("the formats of tapes, bundled for a page", () => {
  test("need nothing that a page does not have", async () => {
    const { imports, complaints } = await bundled();
    expect({ imports, complaints }).toEqual({ imports: [], complaints: [] });
  });
});

describe.skipIf(browserPath === undefined)(`the formats of tapes in a browser${withoutBrowser}`, () => {
  test("read, judge, export and write what Node does, to the byte", async () => {
    const { code } = await bundled();
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      await page.addScriptTag({ content: code });
      for (let seed = 1; seed <= 5; seed++) {
        const [tape, sidecar] = files(seed);
        const here = await journey(tape, sidecar);
        const there = await page.evaluate(`formats.journey(${JSON.stringify(tape)}, ${JSON.stringify(sidecar)})`);
        expect(there).toEqual(here);
        expect([here["tape"], here["sidecar"]]).toEqual([tape, sidecar]);
      }
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});

function files(seed: number): [tape: string, sidecar: string] {
  const random = randomFrom(seed);
  const tape = randomTape(random, 60);
  const { rows } = randomSidecar(random, tape, 60);
  return [tapeText(tape), sidecarText({ header: aSidecarHeader({ tape_content_hash: "0" }), rows })];
}

/** As a page would load it: one script, which names what it offers `formats`. */
async function bundled(): Promise<{ code: string; imports: string[]; complaints: string[] }> {
  const complaints: string[] = [];
  const bundle = await rolldown({
    input: fileURLToPath(new URL("browser-formats-journey.ts", import.meta.url)),
    platform: "browser",
    onLog: (_level, log: RolldownLog) => complaints.push(log.message),
  });
  try {
    const { output } = await bundle.generate({ format: "iife", name: "formats" });
    const [{ code, imports, dynamicImports }] = output;
    return { code, imports: [...imports, ...dynamicImports], complaints };
  } finally {
    await bundle.close();
  }
}
