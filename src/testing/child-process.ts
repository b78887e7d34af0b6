import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const children = new Set<ChildProcess>();

/** Ends every child that was started; `test/each-file.ts` calls it after each test. */
export function killChildren(): void {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
}

export interface Child {
  /** The next line on its stdout, or undefined when it has ended. */
  line(): Promise<string | undefined>;
  /** Asks nothing and saves nothing. Resolves when the process is gone. */
  kill(): Promise<void>;
  readonly stderr: string;
}

/** Runs a module given as text in a Node process of its own. It imports from `dist`, by absolute URL. */
export function startChild(source: string): Child {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return {
    line: async () => (await lines.next()).value,
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    get stderr() {
      return stderr;
    },
  };
}

/** The URL of a built module, such as `store/sqlite/sqlite-store.js`, for the text of a child. */
export function built(path: string): string {
  return JSON.stringify(new URL(`../../dist/${path}`, import.meta.url).href);
}
