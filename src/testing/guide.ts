import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempDir } from "./temp-dir.ts";

const program = fileURLToPath(new URL("../../bin/assay.js", import.meta.url));

/** What a page has somebody type after `$`, and what it shows below. */
export interface GuideStep {
  readonly command: string;
  readonly shown: string;
}

export function steps(markdown: string): GuideStep[] {
  const blocks = [...markdown.matchAll(/^```console\n(.*?)^```$/gms)].map(([, content = ""]) => content);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = "", ...shown] = step.split("\n");
        return { command, shown: shown.join("\n") };
      }),
  );
}

/** The section with this heading, up to the next one of its level or above. */
export function section(markdown: string, heading: string): string {
  const start = markdown.indexOf(`\n${heading}\n`) + 1;
  if (start === 0) throw new Error(`the page has no ${heading}`);
  const level = /^#+/.exec(heading)?.[0].length ?? 1;
  const [first = "", ...lines] = markdown.slice(start).split("\n");
  const next = new RegExp(`^#{1,${level}} `);
  let inCode = false;
  const end = lines.findIndex((line) => {
    // A comment in a script looks like a heading.
    if (line.startsWith("```")) inCode = !inCode;
    return !inCode && next.test(line);
  });
  return [first, ...lines.slice(0, end < 0 ? undefined : end)].join("\n");
}

/** The code blocks of a language, in order. */
export function codeBlocks(markdown: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return [...markdown.matchAll(fence)].map(([, content = ""]) => content);
}

/** A folder with an `npx` and an `assay` that run the program of this checkout, for the front of `PATH`. */
export function ownPrograms(): string {
  const folder = tempDir();
  const put = (name: string, before: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${before}exec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  };
  put("npx", "shift\n");
  put("assay", "");
  return folder;
}
