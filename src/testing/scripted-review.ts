import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { providerFlags, reviewJson } from "./review-command.ts";
import { tempDir } from "./temp-dir.ts";

const PROGRAM = fileURLToPath(new URL("../../test/reviews/scripted-provider.mjs", import.meta.url));

/** What the provider does at one call. */
export interface ScriptEntry {
  readonly remarks?: readonly string[];
  readonly ack?: string;
  readonly hangs?: boolean;
  readonly exitCode?: number;
  readonly stderr?: string;
  readonly error?: string;
  /** In place of the one that was named; null for none at all. */
  readonly session?: string | null;
}

export interface ProviderCall {
  readonly pid: number;
  readonly flags: readonly string[];
  readonly cwd: string;
  readonly pwd: string;
  readonly text: string;
  readonly env: readonly string[];
}

/** A folder with a piece of work, and a provider that follows a script. */
export class ScriptedReview {
  readonly folder = tempDir();
  readonly work = join(this.folder, "plan.md");
  readonly dir = join(this.folder, "reviews");
  readonly log = join(this.folder, "calls.ndjson");
  readonly script = join(this.folder, "script.json");

  constructor(script: readonly ScriptEntry[], content = "First.\n") {
    this.play(script);
    this.write(content);
  }

  play(script: readonly ScriptEntry[]): void {
    writeFileSync(this.script, JSON.stringify(script));
  }

  write(content: string): void {
    writeFileSync(this.work, content);
  }

  get providerFlags(): string[] {
    return [...providerFlags(PROGRAM, this.log, this.script), "--work-dir", this.folder];
  }

  start(...flags: readonly string[]) {
    return reviewJson([
      "start",
      this.work,
      "--dir",
      this.dir,
      ...this.providerFlags,
      "--review-retry-ms",
      "1",
      ...flags,
    ]);
  }

  /** `review WORD NAME …` */
  on(word: string, review: string, ...more: readonly string[]) {
    const quick = word === "next" ? ["--review-retry-ms", "1", "--review-kill-ms", "200"] : [];
    return reviewJson([word, review, ...more, "--dir", this.dir, ...quick]);
  }

  decide(review: string, ...more: readonly string[]) {
    return this.on("decide", review, ...more);
  }

  calls(): ProviderCall[] {
    if (!existsSync(this.log)) return [];
    return readFileSync(this.log, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  requests() {
    return this.calls().map(({ text }) => JSON.parse(text));
  }

  file(review: string, path: string): string {
    return join(this.dir, review, path);
  }

  read(review: string, path: string): string {
    return readFileSync(this.file(review, path), "utf8");
  }

  state(review: string) {
    return JSON.parse(this.read(review, "state.json"));
  }
}
