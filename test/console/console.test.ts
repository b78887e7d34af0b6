import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { type Server, serve } from "../cli/assay.ts";
import { browserPath, launchBrowser, withoutBrowser } from "../find-browser.ts";

describe.skipIf(browserPath === undefined)(`the console in a browser${withoutBrowser}`, () => {
  let server: Server;
  let browser: Browser;
  beforeAll(async () => {
    server = await serve(["--data", tempDir()]);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  test("shows the host, without a complaint of the browser under the served policy", async () => {
    const { page, complaints } = await open("/");
    await page.getByText("Ready", { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/");
    expect(await page.title()).toBe("Assay");
    expect(await page.locator("#protocol").textContent()).toMatch(/^OpenWOP 1/);
    expect(await page.locator("#problem").isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  test("fits a narrow screen, in light and in dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await open("/console/", { colorScheme, viewport: { width: 320, height: 640 } });
      await page.getByText("Ready", { exact: true }).waitFor();
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow), colorScheme).toBe(0);
    }
  });

  test("says so when the host is gone", async () => {
    const other = await serve(["--data", tempDir()]);
    const { page } = await open("/console/", {}, other.url);
    await page.getByText("Ready", { exact: true }).waitFor();
    await other.stop();
    // As when somebody comes back to the tab; it would ask again by itself after a while.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("Unreachable").waitFor();
  });

  /** A page of its own, and whatever the browser complains about on it. */
  async function open(
    path: string,
    options: Parameters<Browser["newPage"]>[0] = {},
    url = server.url,
  ): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("requestfailed", (request) => complaints.push(`${request.url()} ${request.failure()?.errorText}`));
    await page.goto(url + path);
    return { page, complaints };
  }
});
