import { type Ended, start } from "../cli/assay.ts";

export interface Provided extends Ended {
  /** The messages of the stream, in order. */
  readonly messages: readonly Message[];
  readonly sessionID: string;
  /** The response that the stream carries. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever is in it.
  readonly answer: any;
}

export interface Message {
  readonly type: string;
  readonly timestamp: number;
  readonly sessionID?: string;
  readonly part?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly name: string; readonly data: { readonly message: string } };
}

/** Runs `assay review provide` with a request on its standard input. */
export async function provide(
  state: string,
  input: string | Uint8Array,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Provided> {
  const running = start(["review", "provide", "--state", state, "--format", "json", ...args], { stdin: "", env });
  running.child.stdin?.on("error", () => {});
  running.child.stdin?.end(input);
  return provided({ code: await running.ended, stdout: running.stdout(), stderr: running.stderr() });
}

export function provided(ended: Ended): Provided {
  const messages = ended.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Message);
  const text = messages.find(({ type }) => type === "text")?.part?.["text"];
  const answer = typeof text === "string" ? JSON.parse(text) : undefined;
  return { ...ended, messages, sessionID: messages[0]?.sessionID ?? "", answer };
}

export function request(iteration: number, content: unknown = "Plain words.", more: object = {}): string {
  return JSON.stringify({
    protocol_version: "1.2",
    iteration,
    artifact: { media_type: "text/plain", content },
    ...more,
  });
}
