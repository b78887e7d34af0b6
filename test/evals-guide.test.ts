import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { main } from "../src/cli/main.ts";
import { COMMANDS } from "../src/cli/specs/all.ts";
import { EVAL_RUN_FLAGS } from "../src/cli/specs/eval.ts";
import { recordedIo } from "../src/testing/recorded-io.ts";
import { tempDir } from "../src/testing/temp-dir.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/evals.md"), "utf8");
const guide = page.slice(page.indexOf("## From nothing"), page.indexOf("## Running an evaluation"));

afterAll(() => process.chdir(root));

/** Ids and times are those of the moment. */
function withoutNow(text: string): string {
  return text.replaceAll(/run-[0-9a-z]{20,}/g, "run-…").replaceAll(/\d+ ms/g, "… ms");
}

test("the guide to evaluations shows what comes of its commands, in their order", async () => {
  const folder = join(tempDir(), "my-evals");
  cpSync(join(root, "examples/evals"), folder, { recursive: true });
  const blocks = [...guide.matchAll(/^```console\n(.*?)^```$/gms)].map(([, content = ""]) => content);
  let exit = 0;
  for (const step of blocks.flatMap((block) => block.split(/^\$ /m).slice(1))) {
    const [command = "", ...shown] = step.split("\n");
    if (command.startsWith("cp -r examples/evals my-evals")) process.chdir(folder);
    else if (command === "echo $?") expect(`${exit}\n`).toBe(shown.join("\n"));
    else {
      const io = recordedIo();
      const [, , ...args] = command.split(" ");
      exit = await main(args, { io, env: {}, cwd: folder });
      expect(withoutNow(io.outText()), command).toBe(withoutNow(shown.join("\n")));
    }
  }
});

test("the page names every command and every flag of an evaluation", () => {
  for (const { name } of COMMANDS.filter((spec) =>
    /^eval (run|show|list|compare|baseline set|baseline list)$/.test(spec.name),
  )) {
    expect(page).toContain(`assay ${name}`);
  }
  for (const flag of Object.keys(EVAL_RUN_FLAGS)) {
    expect(page).toContain(`--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  }
});
