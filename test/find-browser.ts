import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** A browser is large and no package of ours: one that is installed is used. */
export const browserPath = findBrowser();
export const withoutBrowser = browserPath === undefined ? " (skipped: no Chromium found; name one with CHROMIUM)" : "";

export function launchBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  return chromium.launch({ executablePath: browserPath ?? "", headless: true, args });
}

function findBrowser(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = [
    process.env["CHROMIUM"],
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ];
  return candidates.find((path) => path !== undefined && path !== "" && isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
